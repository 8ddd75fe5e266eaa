// glance.mjs: screenshots compared as a passer-by would: by the mean colour of large cells.
//
// The expected ones are looks/NAME.png beside the test.  FB_LOOKS=1 writes them anew: look at them.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

const ACROSS = 50, DOWN = 32; /* cells */
const MEAN_MOST = 3, CELL_MOST = 60; /* of 255: text moves a little from font to font, boxes do not */

/* The mean colours, DOWN rows of ACROSS cells, of a PNG. */
export async function glance(png, context) {
  const page = await context.newPage();
  const cells = await page.evaluate(async ({ data, across, down }) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width;
    canvas.height = image.height;
    const pen = canvas.getContext("2d"), sums = Array.from({ length: across * down }, () => [0, 0, 0, 0]);
    pen.drawImage(image, 0, 0);
    const bytes = pen.getImageData(0, 0, image.width, image.height).data;
    for (let y = 0; y < image.height; y++)
      for (let x = 0; x < image.width; x++) {
        const cell = sums[Math.floor(y * down / image.height) * across + Math.floor(x * across / image.width)];
        for (let c = 0; c < 3; c++) cell[c] += bytes[4 * (y * image.width + x) + c];
        cell[3]++;
      }
    return sums.map((s) => s.slice(0, 3).map((v) => v / s[3]));
  }, { data: png.toString("base64"), across: ACROSS, down: DOWN });
  await page.close();
  return cells;
}

/* How far two glances are apart: the mean and the largest cell, 0 to 255. */
export function gap(a, b) {
  const cells = a.map((cell, i) => Math.max(...cell.map((v, c) => Math.abs(v - b[i][c]))));
  return { mean: cells.reduce((s, v) => s + v, 0) / cells.length, most: Math.max(...cells) };
}

/* Fails where the screenshot is not as the one that is kept under that name. */
export async function golden(name, png, context) {
  const kept = path.join(process.env.FB_LOOKS_DIR || "looks", `${name}.png`);
  fs.writeFileSync(`${name}.seen.png`, png);
  if (process.env.FB_LOOKS) {
    fs.writeFileSync(kept, png);
    return;
  }
  const apart = gap(await glance(fs.readFileSync(kept), context), await glance(png, context));
  assert.ok(apart.mean <= MEAN_MOST && apart.most <= CELL_MOST,
    `${name}.seen.png is not as ${kept}: ${apart.mean.toFixed(2)} apart, ${apart.most.toFixed(0)} in one place`);
}
