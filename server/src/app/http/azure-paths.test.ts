import { expect, test } from 'vitest';
import { withoutAzure } from './azure-paths.ts';

test.each([
  ['/openai/deployments/gpt-4o-mini/chat/completions?api-version=2024-10-21', '/v1/chat/completions', 'gpt-4o-mini'],
  ['/openai/deployments/a%2Fb%20c/embeddings?api-version=2024-10-21', '/v1/embeddings', 'a/b c'],
  ['/openai/files?purpose=batch&api-version=2024-10-21&limit=2', '/v1/files?purpose=batch&limit=2', undefined],
  ['/openai/v1/responses', '/v1/responses', undefined],
  ['/openai/v1/models/gpt-4o?api-version=preview', '/v1/models/gpt-4o', undefined],
  ['/openai/batches/batch_1/cancel?api-version', '/v1/batches/batch_1/cancel', undefined],
])('%s is %s of %s', (asked, target, deployment) => {
  expect(withoutAzure(asked)).toEqual({ target, deployment });
});

test.each([
  '/v1/chat/completions?api-version=1',
  '/openai',
  '/openai/',
  '/openai/v1/keys',
  '/openai/users/me',
  '/openai/deployments/x',
  '/openai/deployments//chat/completions',
  '/openai/deployments/x/keys',
  '/openai.json',
])('%s is no path of Azure’s, and stays as it is', (target) => {
  expect(withoutAzure(target)).toEqual({ target, deployment: undefined });
});
