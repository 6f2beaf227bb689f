import { ERROR_CODES, ERRORS } from '@tallygate/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { budget, REQUEST_ID, refusal } from '../testing/fixtures.ts';
import { type StubAnswer, type StubGateway, startStubGateway } from '../testing/stub-gateway.ts';
import * as sdk from './index.ts';

let gateway: StubGateway;
beforeAll(async () => {
  gateway = await startStubGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const thrownFor = async (answer: StubAnswer) => {
  gateway.script(answer);
  const tallygate = new sdk.Tallygate({ apiKey: 'tg_test_secret', baseUrl: gateway.baseUrl, maxRetries: 0 });
  return tallygate.chat.completions
    .create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi.' }] })
    .catch((error: unknown) => error);
};

const CLASS_OF_STATUS: Record<number, string> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  402: 'BudgetExceededError',
  403: 'PermissionError',
  404: 'NotFoundError',
  405: 'BadRequestError',
  408: 'BadRequestError',
  409: 'ConflictError',
  413: 'BadRequestError',
  415: 'BadRequestError',
  416: 'BadRequestError',
  417: 'BadRequestError',
  422: 'ValidationError',
  426: 'BadRequestError',
  429: 'RateLimitError',
  431: 'BadRequestError',
  500: 'ServerError',
};
const UPSTREAM = ['upstream_rate_limited', 'upstream_failed', 'upstream_timeout', 'no_provider_configured'];

it.each(ERROR_CODES)('throws %s as the class of its family, with sentence, code, status and request id', async (code) => {
  const { json, status, headers } = refusal(code);
  const failure = await thrownFor({ status, headers, text: JSON.stringify(json) });
  const byStatus = CLASS_OF_STATUS[ERRORS[code].status] ?? 'ServerError';
  const name = UPSTREAM.includes(code) ? 'UpstreamError' : code === 'budget_in_flight' ? 'BudgetInFlightError' : byStatus;
  expect(failure).toBeInstanceOf(sdk.TallygateError);
  expect(failure).toMatchObject({ name, code, status, message: json.detail, requestId: REQUEST_ID, problem: json });
});

it('shows which cap refused a request and by how much', async () => {
  expect(await thrownFor(refusal('budget_exceeded', { problem: { budget } }))).toMatchObject({ budget });
  const inFlight = await thrownFor(refusal('budget_in_flight', { problem: { budget }, headers: { 'retry-after': '2' } }));
  expect(inFlight).toBeInstanceOf(sdk.RateLimitError);
  expect(inFlight).toMatchObject({ budget, retryAfterSeconds: 2 });
});

it('lists every fault of the input, a 400 on OpenAI’s operations and a 422 elsewhere', async () => {
  const errors = [{ loc: ['body', 'messages'], msg: 'Too small', type: 'too_small' }];
  for (const status of [400, 422]) {
    const failure = await thrownFor({ ...refusal('validation_failed', { problem: { status, errors } }), status });
    expect(failure).toBeInstanceOf(sdk.ValidationError);
    expect(failure).toMatchObject({ errors });
  }
  expect(await thrownFor({ status: 422, text: '' })).toMatchObject({ errors: [] });
});

it('classes a code that is younger than the SDK by its status', async () => {
  const { json } = refusal('not_found');
  const failure = await thrownFor({ status: 403, text: JSON.stringify({ ...json, code: 'code_of_tomorrow' }) });
  expect(failure).toBeInstanceOf(sdk.PermissionError);
  expect(failure).toMatchObject({ code: 'code_of_tomorrow', message: json.detail });
});

it('makes a typed error of an answer that is no problem document', async () => {
  const failure = await thrownFor({ status: 502, text: '<h1>Bad Gateway</h1>' });
  expect(failure).toBeInstanceOf(sdk.ServerError);
  expect(failure).toMatchObject({ code: 'unexpected_response', message: 'The service answered 502: <h1>Bad Gateway</h1>' });
});

it('says where it could not connect to, and why', async () => {
  const nowhere = new sdk.Tallygate({ apiKey: 'tg_test_secret', baseUrl: 'http://127.0.0.1:9', maxRetries: 0 });
  const failure = await nowhere.models.list().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(sdk.ConnectionError);
  expect(failure).toMatchObject({ status: undefined, code: 'connection_failed', message: expect.stringContaining('http://127.0.0.1:9') });
});

it.each([
  [
    404,
    '<!DOCTYPE html><html><title>Docs | Not\n found</title>…',
    'What answers is a web page (404, "Docs | Not found"): is the base URL the address of a gateway?',
  ],
  [403, '<html><body>No.</body></html>', 'What answers is a web page (403): is the base URL the address of a gateway?'],
])(
  'says of a web page with %i that it is no gateway, which has nothing to do with what is missing there',
  async (status, text, message) => {
    const failure = await thrownFor({ status, text });
    expect(failure).toMatchObject({ name: 'TallygateError', code: 'unexpected_response', status, message });
  },
);

it('keeps a proxy’s page about the gateway behind it a failure of the server', async () => {
  const failure = await thrownFor({ status: 502, text: '<html><title>502 Bad Gateway</title>' });
  expect(failure).toMatchObject({ code: 'unexpected_response', message: 'What answers is a web page (502, "502 Bad Gateway").' });
  expect(failure).toBeInstanceOf(sdk.ServerError);
});
