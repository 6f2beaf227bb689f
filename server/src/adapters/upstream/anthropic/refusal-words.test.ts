import { expect, it } from 'vitest';
import { refusalWords } from './refusal-words.ts';

const body = (type: string, message: string): string => JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_011' });

it.each([
  ['max_tokens: 99999999 > 64000, which is the maximum', 'max_tokens'],
  ['messages.1.content.0.image.source.base64: the image is broken', 'messages.1.content.0.image.source.base64'],
  ['Something else is wrong: no field here', null],
])('names the field that the message begins with: %s', (message, param) => {
  expect(refusalWords(body('invalid_request_error', message))).toEqual({
    message,
    param,
    code: 'invalid_request_error',
    blames: undefined,
  });
});

it.each([
  'prompt is too long: 210000 tokens > 200000 maximum',
  'input length and `max_tokens` exceed context limit: 198000 + 8000 > 200000, decrease input length or `max_tokens` and try again',
])('gives a prompt that is too long the code that OpenAI’s clients look for: %s', (message) => {
  expect(refusalWords(body('invalid_request_error', message))).toMatchObject({ param: 'messages', code: 'context_length_exceeded' });
});

it('does not blame the caller for our empty account', () => {
  const message =
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.';
  expect(refusalWords(body('invalid_request_error', message)).blames).toBe('gateway');
});

it.each(['', '<html>Bad gateway</html>', '[1]', '{"error":"no"}'])('takes any other text as it is: %s', (text) => {
  expect(refusalWords(text)).toMatchObject({ message: text, param: null, code: null });
});
