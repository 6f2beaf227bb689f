/** Writes each text of the built site a second and third time, compressed: the gateway sends what the browser takes. Run after every build. */
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const DIST = 'dist';
/** Below this a packet is not saved. */
const WORTH_IT_BYTES = 1_400;
const AT_ONCE = 8;
/** The best, 11, takes ten times as long for a tenth less. */
const QUALITY = 6;

const brotli = (text: Buffer) =>
  promisify<Buffer, object, Buffer>(brotliCompress)(text, {
    params: { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT, [constants.BROTLI_PARAM_QUALITY]: QUALITY },
  });

const texts = globSync('**/*.{html,css,js,json,svg,txt,xml}', { cwd: DIST }).map((path) => join(DIST, path));
await Promise.all(Array.from({ length: AT_ONCE }, compressNext));

async function compressNext(): Promise<void> {
  for (let path = texts.pop(); path !== undefined; path = texts.pop()) {
    const text = await readFile(path);
    if (text.length < WORTH_IT_BYTES) continue;
    await Promise.all([writeFile(`${path}.br`, await brotli(text)), writeFile(`${path}.gz`, await promisify(gzip)(text))]);
  }
}
