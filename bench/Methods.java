import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * Methods CLASSES METHODS SECONDS: that many classes of that many methods, each of which calls the
 * next; the last one works. Under a sampler that fills its table of names with all of them.
 */
public final class Methods extends ClassLoader {
    private static final int PER_STACK = 250;

    /** Called by the last method of each chain. */
    public static int work(int n) {
        int sum = n;
        for (int i = 0; i < 200000; i++) {
            sum = sum * 1664525 + 1013904223;
        }
        return sum;
    }

    private static void utf8(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    /**
     * The class file of a class with `count` methods "step number N of it (I)I"; every
     * PER_STACK-th of them calls work().
     */
    private static byte[] classFile(String name, int count) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        int fixed = 12;
        out.writeInt(0xcafebabe);
        out.writeInt(49); // before stack maps
        out.writeShort(fixed + 3 * count);
        utf8(out, name); // 1
        out.writeByte(7);
        out.writeShort(1); // 2: the class
        utf8(out, "java/lang/Object"); // 3
        out.writeByte(7);
        out.writeShort(3); // 4
        utf8(out, "(I)I"); // 5
        utf8(out, "Code"); // 6
        utf8(out, "Methods"); // 7
        out.writeByte(7);
        out.writeShort(7); // 8
        utf8(out, "work"); // 9
        out.writeByte(12);
        out.writeShort(9);
        out.writeShort(5); // 10
        out.writeByte(10);
        out.writeShort(8);
        out.writeShort(10); // 11: Methods.work
        for (int i = 0; i < count; i++) { // name, its type, its reference
            utf8(out, "stepNumber" + i + "OfTheChain");
            out.writeByte(12);
            out.writeShort(fixed + 3 * i);
            out.writeShort(5);
            out.writeByte(10);
            out.writeShort(2);
            out.writeShort(fixed + 3 * i + 1);
        }
        out.writeShort(0x21);
        out.writeShort(2);
        out.writeShort(4);
        out.writeShort(0);
        out.writeShort(0);
        out.writeShort(count);
        for (int i = 0; i < count; i++) {
            boolean last = i % PER_STACK == PER_STACK - 1 || i == count - 1;
            out.writeShort(9);
            out.writeShort(fixed + 3 * i);
            out.writeShort(5);
            out.writeShort(1);
            out.writeShort(6);
            out.writeInt(12 + 5);
            out.writeShort(1);
            out.writeShort(1);
            out.writeInt(5);
            out.writeByte(0x1a); // iload_0
            out.writeByte(0xb8); // invokestatic
            out.writeShort(last ? 11 : fixed + 3 * (i + 1) + 2);
            out.writeByte(0xac); // ireturn
            out.writeShort(0);
            out.writeShort(0);
        }
        out.writeShort(0);
        return bytes.toByteArray();
    }

    public static void main(String[] args) throws Exception {
        int classes = Integer.parseInt(args[0]);
        int methods = Integer.parseInt(args[1]);
        long end = System.nanoTime() + (long) (Double.parseDouble(args[2]) * 1e9);
        Class<?>[] all = new Class<?>[classes];
        Methods loader = new Methods();
        for (int i = 0; i < classes; i++) {
            String name = "made/up/for/measuring/ClassNumber" + i;
            byte[] file = classFile(name, methods);
            all[i] = loader.defineClass(name.replace('/', '.'), file, 0, file.length);
        }
        int sum = 0;
        do {
            for (Class<?> one : all) {
                for (int i = 0; i < methods; i += PER_STACK) {
                    sum += (Integer) one.getMethod("stepNumber" + i + "OfTheChain", int.class)
                            .invoke(null, i);
                }
            }
        } while (System.nanoTime() < end);
        System.out.println(sum != 0 ? "done" : "done: 0");
    }
}
