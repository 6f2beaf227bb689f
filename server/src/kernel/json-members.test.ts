import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonMembers } from './json-members.ts';

interface Member {
  readonly name: string;
  text: string;
  elements: number;
}

function membersIn(chunks: readonly Buffer[]) {
  const found: Member[] = [];
  const members = new JsonMembers({
    begin: (name) => void found.push({ name, text: '', elements: -1 }),
    value: (bytes) => {
      const last = found.at(-1);
      if (last) last.text += bytes.toString('latin1');
    },
    end: (elements) => {
      const last = found.at(-1);
      if (last) last.elements = elements;
    },
  });
  for (const chunk of chunks) members.take(chunk);
  return { found, isComplete: members.isComplete, isInvalid: members.isInvalid };
}

const cut = (bytes: Buffer, sizes: readonly number[]): Buffer[] => {
  const chunks: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
};

const values = fc.oneof(
  fc.jsonValue(),
  fc.array(fc.jsonValue({ maxDepth: 1 })),
  fc.string({ minLength: 90, maxLength: 300, unit: 'binary' }),
);
const objects = fc.dictionary(fc.string({ maxLength: 8 }), values);
const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 });

test('finds the members of an object as JSON.parse does, however the text is written and cut', async () => {
  await fc.assert(
    fc.property(objects, fc.integer({ min: 0, max: 3 }), sizes, (object, indent, lengths) => {
      const text = JSON.stringify(object, null, indent);
      const { found, isComplete, isInvalid } = membersIn(cut(Buffer.from(`\n${text} `), lengths));
      expect({ isComplete, isInvalid }).toEqual({ isComplete: true, isInvalid: false });
      const written: unknown = JSON.parse(text);
      const read = found.map(({ name, text }) => [name, JSON.parse(Buffer.from(text, 'latin1').toString('utf8'))]);
      expect(read).toEqual(Object.entries(written as object));
      for (const { text, elements } of found) {
        const value: unknown = JSON.parse(Buffer.from(text, 'latin1').toString('utf8'));
        if (Array.isArray(value)) expect(elements).toBe(value.length);
      }
    }),
  );
});

test.each(['[1]', '"{}"', '<html>', '{"a":1}{', '{"a" 1}', '{a:1}', `{"${'n'.repeat(300)}":1}`])('refuses %s', (text) => {
  for (const size of [1, 1_000]) expect(membersIn(cut(Buffer.from(text), [size]))).toMatchObject({ isInvalid: true });
});

test.each(['', '{', '{"a":[1,2]', '{"a":"b', '{"a":"\\'])('is not complete with %s', (text) => {
  expect(membersIn([Buffer.from(text)])).toMatchObject({ isComplete: false, isInvalid: false });
});
