import { expect, it } from 'vitest';
import { signerFor } from './signing.ts';

const NOW = Date.parse('2026-11-21T08:00:00Z');
const IDENTITY = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const HEADERS = { 'content-type': 'application/json', accept: 'application/json' };
const sign = await signerFor({
  baseUrl: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
  region: 'eu-central-1',
  clock: { now: () => NOW },
});

// The signatures are those of botocore 1.43 (`SigV4Auth`) for the same requests at that time.
it.each([
  [
    'an inference profile',
    '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse',
    '{"a":1}',
    IDENTITY,
    '7cc70adf3ce0f670b30b5ed0251ebcef2127239357af5b6242c880b32f03ceb6',
  ],
  [
    'an ARN, with the credentials of a role',
    '/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Aapplication-inference-profile%2Fabc123/invoke-with-response-stream',
    '{"text":"Grüß dich"}',
    { ...IDENTITY, sessionToken: 'session-token' },
    '70c052c79f389afbbcb72e6011da7f868f80743c0c9d1370116d607cb59dcd13',
  ],
])('signs as botocore does a request to %s', async (_, path, body, credentials, signature) => {
  const headers = await sign({ method: 'POST', path, headers: HEADERS, body: Buffer.from(body) }, credentials);
  expect(headers['authorization']).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20261121\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=accept;content-type;host;/,
  );
  expect(headers['authorization']?.split('Signature=')[1]).toBe(signature);
  expect(headers['x-amz-date']).toBe('20261121T080000Z');
});
