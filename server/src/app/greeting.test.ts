import { expect, test } from 'vitest';
import { greeting } from './greeting.ts';

const bootstrap = {
  base_url: 'http://127.0.0.1:8787/v1',
  admin_email: 'admin@tallygate.localhost',
  admin_password: 'made here',
  test_api_key: 'tg_test_1',
  internal_secret: 'internal',
  metrics_token: 'metrics',
};
const greetingWith = (admin_password: string, operationsUrl?: string) =>
  greeting({ url: 'http://127.0.0.1:8787', operationsUrl, bootstrap: { ...bootstrap, admin_password } }, '/data');

test('a greeting has what a first request takes, and says where the secrets are without naming them', () => {
  const text = greetingWith('made here');
  expect(text).toContain('export OPENAI_BASE_URL=http://127.0.0.1:8787/v1\n    export OPENAI_API_KEY=tg_test_1\n');
  expect(text).toContain("The administrator's password, the internal secret and the token of /metrics are in /data/bootstrap.json.");
  for (const secret of ['made here', 'metrics\n', 'internal\n']) expect(text).not.toContain(secret);
});

test('a gateway that did not make the administrator does not say that it has the password', () => {
  const text = greetingWith('');
  expect(text).not.toContain("administrator's password");
  expect(text).toContain('The internal secret and the token of /metrics are in /data/bootstrap.json.');
  expect(text).toContain('made the administrator, admin@tallygate.localhost: the password is in bootstrap.json of that gateway.');
});

test('a greeting says where metrics and health are, where that is another address', () => {
  expect(greetingWith('', 'http://127.0.0.1:8789')).toContain('Metrics and health checks: http://127.0.0.1:8789/metrics, ');
  expect(greetingWith('')).not.toContain('health');
});
