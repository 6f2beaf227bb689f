import type { FieldError } from '@tallygate/contract';
import { expect, test } from 'vitest';
import { invalidInput } from './invalid-input.ts';

const error = (...loc: FieldError['loc']): FieldError => ({ loc, msg: 'must have at least 1 character', type: 'too_small' });

test.each([
  [['body', 'name'], '`name` must have at least 1 character.', 'name'],
  [['body', 'messages', 0, 'role'], '`messages[0].role` must have at least 1 character.', 'messages[0].role'],
  [['body'], 'The body must have at least 1 character.', undefined],
  [['query', 'limit'], 'The query parameter `limit` must have at least 1 character.', 'limit'],
  [['header', 'x-agent-run-id'], 'The header `x-agent-run-id` must have at least 1 character.', 'x-agent-run-id'],
  [['path', 'key_id'], '`key_id` in the path must have at least 1 character.', 'key_id'],
])('says of %j what is wrong as a sentence, and names the field for OpenAI’s clients', (loc, detail, param) => {
  const { message, status, extras } = invalidInput([error(...loc)]);
  expect([status, message, extras.param]).toEqual([422, detail, param]);
});

test('separates a full sentence from the field', () => {
  expect(invalidInput([{ ...error('body', 'stop'), msg: 'Expected something else' }]).message).toBe('`stop`: Expected something else.');
});

test('says the first fault, counts the others, and lists twenty at most', () => {
  const { message, extras } = invalidInput(Array.from({ length: 60 }, (_, index) => error('body', index)));
  expect(message).toBe('`[0]` must have at least 1 character (and 59 more, see errors).');
  expect(extras.errors).toHaveLength(20);
});
