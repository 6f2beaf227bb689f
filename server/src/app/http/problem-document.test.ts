import { HTTPValidationError } from '@tallygate/contract';
import { expect, test } from 'vitest';
import { Problem } from '../../kernel/problem.ts';
import { createProblemReply, toProblemDocument } from './problem-document.ts';

const CONTEXT = { requestId: 'req_019aa2f1c2d37b6e8c4d1f00aa55ee77', publicUrl: 'https://tallygate.test', pathname: '/v1/keys' };

test.each([
  [{ param: 'messages[0].role' }, ['body', 'messages', 0, 'role']],
  [{ param: 'modalities' }, ['body', 'modalities']],
  [{}, ['body']],
])('a 422 with %j alone lists its one fault', (extras, loc) => {
  const { body } = toProblemDocument(new Problem('unpriced_feature', 'Remove it.', extras), CONTEXT);
  expect(HTTPValidationError.parse(body).errors).toEqual([{ loc, msg: 'Remove it.', type: 'unpriced_feature' }]);
});

test.each([
  ['/v1/chat/completions', 400],
  ['/v1/responses/resp_1/input_items', 400],
  ['/v1/embeddings', 400],
  ['/v1/images/generations', 400],
  ['/v1/audio/speech', 400],
  ['/v1/videos', 400],
  ['/v1/models', 400],
  ['/v1/files/file_1', 400],
  ['/v1/batches', 400],
  // What OpenAI does not have keeps the status of the interface.
  ['/v1/video/generations', 422],
  ['/v1/keys', 422],
  ['/v1/users/login', 422],
  ['/v1/marketing/people', 422],
  ['/v1/modelsx', 422],
])('on %s input that is not valid is a %i, with the same list of faults', (pathname, status) => {
  for (const code of ['validation_failed', 'unpriced_feature'] as const) {
    const answer = toProblemDocument(new Problem(code, 'No.', { param: 'n' }), { ...CONTEXT, pathname });
    expect(answer).toMatchObject({ status, body: { status, code, errors: [{ loc: ['body', 'n'], msg: 'No.', type: code }] } });
  }
});

test('the faults that were found stay as they were found', () => {
  const errors = [{ loc: ['query', 'limit'], msg: 'is too large', type: 'too_big' }];
  expect(toProblemDocument(new Problem('validation_failed', 'Wrong.', { errors }), CONTEXT).body.errors).toEqual(errors);
});

test.each([
  ['/v1/chat/completions', 'invalid_credentials', 'invalid_api_key'],
  ['/v1/responses/resp_1', 'missing_credentials', 'invalid_api_key'],
  ['/v1/embeddings', 'budget_exceeded', 'insufficient_quota'],
  ['/v1/models', 'rate_limited', 'rate_limit_exceeded'],
  ['/v1/images/generations', 'upstream_rate_limited', 'rate_limit_exceeded'],
  ['/v1/chat/completions', 'model_not_found', 'model_not_found'],
  ['/v1/users/login', 'invalid_credentials', 'invalid_credentials'],
  ['/v1/keys', 'rate_limited', 'rate_limited'],
] as const)('on %s the code %s is %s for OpenAI’s clients', (pathname, code, openAiCode) => {
  const { body } = toProblemDocument(new Problem(code, 'No.'), { ...CONTEXT, pathname });
  expect(body).toMatchObject({ code, error: { code: openAiCode } });
});

test('what a provider says of the request keeps its status, code and type', () => {
  const upstream = { status: 413, code: 'context_length_exceeded', type: 'tokens' };
  const { status, body } = toProblemDocument(new Problem('upstream_rejected', 'Too long.', { param: 'messages', upstream }), CONTEXT);
  expect(status).toBe(413);
  expect(body).toMatchObject({
    ...{ status: 413, code: 'upstream_rejected' },
    error: { message: 'Too long.', type: 'tokens', code: 'context_length_exceeded', param: 'messages' },
  });
});

test.each([
  [400, 400, 'invalid_request_error'],
  [413, 413, 'request_too_large'],
  [422, 400, 'invalid_request_error'],
])('what a provider refuses with %i is told to Anthropic’s clients with %i, as %s', (status, told, type) => {
  const problem = new Problem('upstream_rejected', 'No.', { upstream: { status, code: 'x', type: null } });
  const answer = createProblemReply(() => 'http://gateway.test')(problem, {
    requestId: 'req_1',
    clientRequestId: null,
    surface: 'anthropic',
  });
  expect([answer.status, JSON.parse(answer.body.toString())]).toMatchObject([
    told,
    { error: { type, message: 'No.' }, request_id: 'req_1' },
  ]);
});
