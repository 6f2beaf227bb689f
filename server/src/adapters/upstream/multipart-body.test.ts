import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { multipartBody } from './multipart-body.ts';

const audio = (filename = 'a.wav') => ({
  field: 'file',
  filename,
  contentType: 'audio/wav',
  bytes: 4,
  open: () => Readable.from([Buffer.from('RI'), Buffer.from('FF')]),
});

const parsed = async ({ contentType, body }: ReturnType<typeof multipartBody>): Promise<FormData> =>
  new Response(new Uint8Array(await buffer(body)), { headers: { 'content-type': contentType } }).formData();

it('is what a form parser reads as the same fields and files', async () => {
  const form = await parsed(
    multipartBody({ model: 'whisper-1', temperature: 0, include: ['a', 'b'], chunking: { type: 'auto' }, left: undefined }, [audio()]),
  );
  expect([...form.keys()]).toEqual(['model', 'temperature', 'include[]', 'include[]', 'chunking[type]', 'file']);
  expect(form.getAll('include[]')).toEqual(['a', 'b']);
  const file = form.get('file');
  expect(file instanceof File && { name: file.name, type: file.type, text: await file.text() }).toEqual({
    name: 'a.wav',
    type: 'audio/wav',
    text: 'RIFF',
  });
});

it('says its length before it is read', async () => {
  const { body, contentLength } = multipartBody({ prompt: 'Grüße' }, [audio()]);
  expect((await buffer(body)).length).toBe(contentLength);
});

it('lets no file name add a header or another field', async () => {
  const form = await parsed(multipartBody({}, [audio('x"\r\nX-Evil: 1\r\n\r\n--')]));
  expect([...form.keys()]).toEqual(['file']);
});
