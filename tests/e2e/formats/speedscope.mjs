// speedscope.mjs DIR NAME...: DIR/NAME.speedscope.json in speedscope against DIR/NAME.folded.
// speedscope loads a file as its own command does: by a script whose path is in the URL.
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';

const [dir, ...names] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--allow-file-access-from-files', '--use-gl=angle',
    '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
let failed = 0;

function check(is, what) {
  if (!is) {
    failed++;
    console.log(`FAILED: ${what}`);
  }
}

// The page with the file loaded, and what went wrong in it.
async function open(file) {
  const script = path.join(dir, `${path.basename(file)}.js`);
  const bytes = fs.readFileSync(file).toString('base64');
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });

  page.on('pageerror', (e) => check(false, `${file}: ${e.message}`));
  fs.writeFileSync(script,
    `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))}, "${bytes}")`);
  await page.goto(`file://${dir}/node_modules/speedscope/dist/release/index.html` +
    `#localProfilePath=${script}`);
  await page.waitForFunction(() => document.body.innerText.includes('Sandwich'), null,
    { timeout: 60000 });
  return page;
}

// Rows of the sandwich view: name to [self, total].
async function table(page) {
  await page.keyboard.press('3');
  await page.waitForFunction(() => document.querySelectorAll('tr').length > 1);
  const rows = await page.evaluate(() => [...document.querySelectorAll('tr')].slice(1)
    .map((row) => [...row.children].map((cell) => cell.innerText.trim())));
  const number = (text) => Number(text.split(' ')[0].replaceAll(',', ''));

  return new Map(rows.map(([total, self, name]) => [name, [number(self), number(total)]]));
}

// The same of folded text; a function counts once in a stack.
function folded(file) {
  const sums = new Map();

  for (const line of fs.readFileSync(file, 'utf8').trim().split('\n')) {
    const at = line.lastIndexOf(' ');
    const weight = Number(line.slice(at + 1));
    const frames = line.slice(0, at).split(';');

    for (const name of new Set(frames)) {
      const sum = sums.get(name) ?? [0, 0];

      sums.set(name, [sum[0] + (name === frames.at(-1) ? weight : 0), sum[1] + weight]);
    }
  }
  return sums;
}

for (const name of names) {
  const page = await open(path.join(dir, `${name}.speedscope.json`));
  const got = await table(page), want = folded(path.join(dir, `${name}.folded`));

  check(want.size > 4 && got.size === want.size, `${name}: ${got.size} functions of ${want.size}`);
  for (const [fn, sums] of want)
    check(String(got.get(fn)) === String(sums), `${name}: ${fn} has ${got.get(fn)}, not ${sums}`);
  await page.close();
}

const page = await open(path.join(dir, 'threads.speedscope.json'));
const text = await page.evaluate(() => document.body.innerText);

check(text.includes('main tid=7 pid=3') && text.includes('(1/2)'), `threads: ${text}`);
await page.close();
await browser.close();
console.log(failed ? `${failed} failed` : `${names.length + 1} files: all as 'fold' says`);
process.exit(failed ? 1 : 0);
