import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { loadCatalog } from '../../money/catalog/index.ts';
import { imageEditWork, imageVariationWork, imageWork } from './image-work.ts';
import { countTokensGuarded } from './token-count.ts';

const tokenizer = { count: countTokensGuarded, close: async () => {} };
const RECEIVED = { bytes: Buffer.alloc(0), files: [], sha256: () => '' };
const PICTURE = { image_url: 'https://example.com/a.png' };
const model = loadCatalog().find('gpt-image-1');
if (!model) throw new Error('The catalogue has no gpt-image-1');
const ASK = { model: 'gpt-image-1', prompt: 'A ledger', n: 2, quality: 'low', size: '1024x1024' } as const;

describe('images that nobody has counted', () => {
  const estimate = async (work: ReturnType<typeof imageWork>, text: string, scale = 1) => {
    return work.estimate(model, { text, scale }, null, tokenizer);
  };

  test('cost nothing but the prompt where none was delivered', async () => {
    expect(await estimate(imageWork(ASK, RECEIVED), '')).toMatchObject({ input_tokens: 2, output_tokens: 0 });
    expect(await estimate(imageEditWork({ ...ASK, images: [PICTURE] }, RECEIVED), '')).toMatchObject({ input_tokens: 2, output_tokens: 0 });
  });

  test('cost what was delivered, and never more than is held', async () => {
    const work = imageWork({ ...ASK, stream: true, partial_images: 1 }, RECEIVED);
    const one = await estimate(work, 'pi');
    expect(one).toMatchObject({ images: 1, image_output_tokens: one.output_tokens });
    // Of tokens without an image no quota was held.
    expect(await estimate(work, 'p')).toMatchObject({ output_tokens: 100, images: 1 });
    const { imageOutputTokens } = work.bound(model);
    expect((await estimate(work, 'pipi')).output_tokens).toBe(imageOutputTokens);
    expect((await estimate(work, 'pipi', 50)).output_tokens).toBe(imageOutputTokens);
  });
});

test.each<[string, object, string]>([
  ['no image at all', {}, 'image'],
  ['an image that is a text', { image: 'a.png' }, 'image'],
  ['seventeen images', { images: Array(17).fill(PICTURE) }, 'image'],
  ['a file of somebody at the provider', { images: [{ file_id: 'file-1' }] }, 'images[0]'],
  ['a markup of somebody at the provider', { images: [PICTURE], markup: { file_id: 'file-1' } }, 'markup'],
  ['a mask of somebody at the provider', { images: [PICTURE], mask: { file_id: 'file-1' } }, 'mask'],
])('an edit of %s is refused', (_, more, param) => {
  expect(() => imageEditWork({ ...ASK, ...more }, RECEIVED)).toThrow(
    expect.objectContaining({ code: 'validation_failed', extras: expect.objectContaining({ param }) }),
  );
});

test.each(['mask', 'markup'])('a %s is held as an image, as a file and by its URL', (name) => {
  const file = (field: string) => ({ field, filename: 'a.png', contentType: 'image/png', bytes: 1, open: () => Readable.from([]) });
  const tokensOf = (more: object, files: readonly string[]) =>
    imageEditWork({ ...ASK, ...more }, { ...RECEIVED, files: files.map(file) }).bound(model).inputTokens;
  const [one, two] = [tokensOf({}, ['image']), tokensOf({}, ['image', 'image'])];
  expect(two).toBeGreaterThan(one);
  expect(tokensOf({}, ['image', name])).toBe(two);
  expect(tokensOf({ [name]: PICTURE }, ['image'])).toBe(two);
  expect(() => tokensOf({}, [name])).toThrow(expect.objectContaining({ code: 'validation_failed' }));
});

test('every file of a variation is held as an image', () => {
  const file = { field: 'image', filename: 'a.png', contentType: 'image/png', bytes: 1, open: () => Readable.from([]) };
  const tokensOf = (count: number) =>
    imageVariationWork({ model: 'gpt-image-1' }, { ...RECEIVED, files: Array(count).fill(file) }).bound(model).inputTokens;
  expect(tokensOf(3)).toBe(tokensOf(1) + 2 * (tokensOf(2) - tokensOf(1)));
  expect(tokensOf(2)).toBeGreaterThan(tokensOf(1));
});
