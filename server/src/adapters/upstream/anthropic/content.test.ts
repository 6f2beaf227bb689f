import { expect, it } from 'vitest';
import { contentBlocks } from './content.ts';

const image = (url: string, more: object = {}) => ({ type: 'image_url', image_url: { url }, ...more });
const file = (fields: object) => ({ type: 'file', file: fields });
const only = (part: unknown) => contentBlocks([part])[0];

it.each([
  ['data:image/png;base64,AAAA', { type: 'base64', media_type: 'image/png', data: 'AAAA' }],
  ['data:image/jpg;base64,AAAA', { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' }],
  ['DATA:IMAGE/WEBP;charset=x;BASE64,AAAA', { type: 'base64', media_type: 'image/webp', data: 'AAAA' }],
  ['https://example.com/a.png', { type: 'url', url: 'https://example.com/a.png' }],
])('shows the image %s', (url, source) => {
  expect(only(image(url, { cache_control: { type: 'ephemeral' } }))).toEqual({
    type: 'image',
    source,
    cache_control: { type: 'ephemeral' },
  });
});

it.each([
  [
    'a PDF',
    { file_data: 'data:application/pdf;base64,JVBERg==', filename: 'a.pdf' },
    { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
  ],
  [
    'a PDF without a head',
    { file_data: 'JVBERg==', filename: 'a.pdf' },
    { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
  ],
  ['a PDF elsewhere', { file_data: 'https://example.com/a.pdf', filename: 'a.pdf' }, { type: 'url', url: 'https://example.com/a.pdf' }],
  ['a text', { file_data: 'data:text/csv;base64,w7w7MQ==', filename: 'a.pdf' }, { type: 'text', media_type: 'text/plain', data: 'ü;1' }],
  [
    'an encoded text',
    { file_data: 'data:text/plain,%C3%BC%3B1', filename: 'a.pdf' },
    { type: 'text', media_type: 'text/plain', data: 'ü;1' },
  ],
])('shows %s as a document with its name', (_, fields, source) => {
  expect(only(file(fields))).toEqual({ type: 'document', source, title: 'a.pdf' });
});

it('shows a file that is an image as one', () => {
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
  expect(only(file({ file_data: 'data:image/png;base64,AAAA' }))).toEqual({ type: 'image', source });
});

it.each([
  ['sound', { type: 'input_audio', input_audio: { data: '', format: 'wav' } }],
  ['video', { type: 'video_url', video_url: { url: 'https://example.com' } }],
  ['a file that is not here', file({ file_id: 'file-1' })],
  ['a spreadsheet', file({ file_data: 'data:application/vnd.ms-excel;base64,AAAA' })],
  ['an image without an address', { type: 'image_url', image_url: {} }],
])('refuses %s, naming the field', (_, part) => {
  expect(() => contentBlocks([part])).toThrow(expect.objectContaining({ name: 'Untranslatable', param: 'messages' }));
});
