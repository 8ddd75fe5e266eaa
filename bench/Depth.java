/**
 * Depth LIBRARY COUNT [empty] DEPTH...: CPU nanoseconds of one tick below that many Java frames.
 *
 * <p>The frames are of eight methods in turn, compiled with what the compiler inlines, as in real
 * programs; the native half, jvm_raise.c, sends the signals. All is done three times and the least
 * is printed, one line a depth.
 */
public final class Depth {
    private static double result;

    static native double raise(int count);

    static native void empty();

    private static void go(int left, int count) {
        if (left <= 0) {
            if (count > 0) {
                result = raise(count);
            }
            return;
        }
        switch (left & 7) {
            case 0: first(left - 1, count); break;
            case 1: second(left - 1, count); break;
            case 2: third(left - 1, count); break;
            default: fourth(left - 1, count); break;
        }
    }

    private static void first(int left, int count) {
        go(left - 1, count);
    }

    private static void second(int left, int count) {
        go(left - 1, count);
    }

    private static void third(int left, int count) {
        go(left - 1, count);
    }

    private static void fourth(int left, int count) {
        go(left - 1, count);
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[1]);
        System.load(args[0]);
        for (int i = 0; i < 40000; i++) {
            go(200 - i % 3, 0);
        }
        for (int i = 2; i < args.length; i++) {
            if (args[i].equals("empty")) {
                empty();
                continue;
            }
            double least = Double.MAX_VALUE;
            for (int round = 0; round < 3; round++) {
                go(Integer.parseInt(args[i]) - 2, count);
                least = Math.min(least, result);
                Thread.sleep(round == 0 ? 1300 : 100);
            }
            System.out.printf("%s %.0f%n", args[i], least);
        }
    }
}
