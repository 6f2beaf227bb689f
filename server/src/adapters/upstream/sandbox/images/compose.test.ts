import { ImageList } from '@tallygate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readImageHeader } from '../image-header.ts';
import { fileOf } from '../testing/files.ts';
import { NOW, sandboxAt } from '../testing/sandbox.ts';
import { paint } from './picture.ts';
import { png } from './png.ts';

const model = 'gpt-image-1';
const usual = { model, maxOutputTokens: null };
const generations = sandboxAt('/v1/images/generations', usual, (call) => call);
const edits = sandboxAt('/v1/images/edits', usual, (call) => call);
const variations = sandboxAt('/v1/images/variations', usual, (call) => call);
const request = { model, prompt: 'A ledger made of light', size: '64x64' };
const headerOf = (base64: string) => readImageHeader(Buffer.from(base64, 'base64'));
const photo = async (width = 300, height = 100) => png(paint({ seed: 'photo', width, height }));

describe('images of the sandbox', () => {
  it('are as many as asked for, in the size and format asked for, no two alike', async () => {
    const asked = fc.record({
      n: fc.integer({ min: 1, max: 4 }),
      size: fc.constantFrom('64x64', '96x64', '64x112'),
      output_format: fc.constantFrom('png' as const, 'jpeg' as const, 'webp' as const),
      quality: fc.constantFrom('low', 'medium', 'high', 'auto'),
    });
    await fc.assert(
      fc.asyncProperty(asked, async (fields) => {
        const { data, usage, created } = ImageList.parse(await generations.json({ ...request, ...fields }));
        expect(created).toBe(NOW / 1000);
        expect(new Set(data.map(({ b64_json }) => b64_json)).size).toBe(fields.n);
        for (const { b64_json } of data) {
          const header = headerOf(b64_json ?? '');
          expect(`${header?.widthPixels}x${header?.heightPixels}`).toBe(fields.size);
          expect(header?.mediaType).toBe(`image/${fields.output_format}`);
        }
        expect(usage?.total_tokens).toBe((usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0));
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    ['low', '1024x1024', 272],
    ['low', '1024x1536', 408],
    ['low', '1536x1024', 400],
    ['medium', '1024x1024', 1056],
    ['medium', '1024x1536', 1584],
    ['high', '1536x1024', 6208],
    ['high', 'auto', 4160],
  ])('cost what OpenAI bills: %s %s %i', async (quality, size, tokens) => {
    const { usage, data } = await generations.json({ ...request, quality, size, n: 2 });
    expect(usage).toMatchObject({ output_tokens: 2 * tokens, output_tokens_details: { image_tokens: 2 * tokens } });
    expect(headerOf(data[0].b64_json)?.widthPixels).toBe(size === 'auto' ? 1024 : Number(size.split('x')[0]));
  });

  it('are streamed: partial images, then the whole with the usage', async () => {
    const events = await generations.events({ ...request, partial_images: 2 });
    expect(events.map(({ name, data }) => [name, data.type, data.partial_image_index])).toEqual([
      ['image_generation.partial_image', 'image_generation.partial_image', 0],
      ['image_generation.partial_image', 'image_generation.partial_image', 1],
      ['image_generation.completed', 'image_generation.completed', undefined],
    ]);
    for (const { data } of events) {
      expect(data).toMatchObject({ created_at: NOW / 1000, size: '64x64', quality: 'medium', background: 'opaque', output_format: 'png' });
      expect(headerOf(data.b64_json)).toMatchObject({ widthPixels: 64, heightPixels: 64 });
    }
    expect(events[2]?.data.b64_json).toBe((await generations.json(request)).data[0].b64_json);
    expect(events[2]?.data.usage.output_tokens).toBe((await generations.json(request)).usage.output_tokens + 200);
  });

  it('streamed one after the other cost together what they cost plain', async () => {
    const events = await generations.events({ ...request, n: 3 });
    const { usage, data } = await generations.json({ ...request, n: 3 });
    expect(events.map((event) => event.data.b64_json)).toEqual(data.map(({ b64_json }: { b64_json: string }) => b64_json));
    for (const name of ['input_tokens', 'output_tokens', 'total_tokens']) {
      expect(events.reduce((sum, event) => sum + event.data.usage[name], 0)).toBe(usage[name]);
    }
  });

  it('are refused where the size or the background cannot be', async () => {
    expect(await generations.ask({ ...request, size: '9000x9000' })).toMatchObject({ kind: 'rejected', param: 'size' });
    expect(await generations.ask({ ...request, output_format: 'jpeg', background: 'transparent' })).toMatchObject({ param: 'background' });
  });

  it('are edited from files and from JSON, whose images are counted', async () => {
    const files = [fileOf('image[]', await photo()), fileOf('image[]', await photo(100, 300)), fileOf('mask', await photo())];
    const { data, usage } = await edits.json({ ...request, size: 'auto' }, { files });
    expect(headerOf(data[0].b64_json)).toMatchObject({ widthPixels: 1536, heightPixels: 1024 });
    expect(usage.input_tokens_details.image_tokens).toBe(2 * (65 + 129));
    const image_url = `data:image/png;base64,${(await photo()).toString('base64')}`;
    const json = await edits.json({ ...request, images: [{ image_url }] });
    expect(json.usage.input_tokens_details.image_tokens).toBe(65 + 129);
    expect(json.data[0].b64_json).not.toBe((await edits.json(request)).data[0].b64_json);
    const [event] = await edits.events(request, { files });
    expect(event?.name).toBe('image_edit.completed');
  });

  it('are not edited from what is no image', async () => {
    const files = [fileOf('image', Buffer.from('no image at all'))];
    expect(await edits.ask(request, { files })).toMatchObject({ kind: 'rejected', param: 'image', code: 'invalid_image_file' });
    expect(await edits.ask({ ...request, images: [{ image_url: 'data:image/png;base64,aGVsbG8=' }] })).toMatchObject({
      param: 'images[0].image_url',
    });
  });

  it('vary an image without words', async () => {
    const { data } = await variations.json(
      { model, n: 2, size: '64x64', response_format: 'url' },
      { files: [fileOf('image', await photo())] },
    );
    expect(data).toHaveLength(2);
    expect(data[0].url).toMatch(/^data:image\/png;base64,/);
  });

  it('break off, fail and lose their usage where that fault is asked for', async () => {
    await expect(generations.bytes(request, { sandboxFault: 'cut' })).rejects.toMatchObject({ reason: 'reset' });
    const events = await generations.events({ ...request, partial_images: 3 }, { sandboxFault: 'error-event;after=1' });
    expect(events.map(({ name }) => name)).toEqual(['image_generation.partial_image', 'error']);
    expect(events[1]?.data.error.code).toBe('sandbox_fault');
    expect(await generations.json(request, { sandboxFault: 'no-usage' })).not.toHaveProperty('usage');
  });
});
