import { model, refusal } from '@tallygate/sdk/testing/fixtures';
import { startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { describe, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';
import { perMillion } from './models.ts';

it('prints models with their prices per million tokens', async () => {
  await using gateway = await startStubGateway();
  const speech = { ...model, id: 'tts-1', kind: 'tts' as const, context_length: null, pricing: { ...model.pricing, prices: {} } };
  gateway.script({ json: { object: 'list', data: [model, speech] } });
  const { stdout, exitCode } = await new Terminal(gateway).type(['models'], { apiKey: 'tg_test_secret', isTty: true });
  expect(stdout).toBe(
    [
      'ID           KIND  BY      CONTEXT  IN USD/1M  OUT USD/1M',
      'gpt-4o-mini  chat  openai   128000       0.15         0.6',
      'tts-1        tts   openai        -          -           -',
      '',
    ].join('\n'),
  );
  expect(exitCode).toBe(0);
});

it('shows one model that is named, and names the one that was probably meant for another', async () => {
  await using gateway = await startStubGateway();
  const terminal = new Terminal(gateway);
  gateway.script({ json: { ...model, ladder: [] } });
  const { stdout } = await terminal.type(['models', 'gpt-4o-mini']);
  expect(gateway.requests[0]?.path).toBe('/v1/models/gpt-4o-mini');
  expect(stdout).toMatch(/^Id\tgpt-4o-mini\nKind\tchat\n/);
  expect(stdout).toMatch(/\nFallbacks\t-\nRetired\t-\nPrices\tinput_tokens 0\.15 USD\/1M/);
  gateway.script(refusal('model_not_found'), { json: { object: 'list', data: [model] } });
  expect((await terminal.type(['models', 'gpt4o-mini'])).stderr).toContain('Did you mean gpt-4o-mini?');
});

it('prints whole records as JSON where all fields are asked for', async () => {
  await using gateway = await startStubGateway();
  gateway.script({ json: { object: 'list', data: [model] } });
  const { stdout } = await new Terminal(gateway).type(['models', '--json', 'all']);
  expect(JSON.parse(stdout)).toEqual([model]);
});

it.each([
  ['0.00000015', '0.15'],
  ['0.000015', '15'],
  ['0.0000000375', '0.0375'],
  ['1', '1000000'],
  ['0.00000006', '0.06'],
])('moves %s per unit to %s per million, exactly', (perUnit, expected) => expect(perMillion(perUnit)).toBe(expected));

describe('an administrator', () => {
  const priced = { id: 'llama3', pricing: { ...model.pricing, version: 'v' } };
  const session = { sessionToken: 'tgs_secret' };

  it('sets a price per million with one line, in any unit', async () => {
    await using gateway = await startStubGateway();
    gateway.script({ status: 201, json: priced });
    const line = ['models', 'price', 'llama3', '--input', '0', '--output', '0.1', '--meter', 'cached_input_tokens=0', '--source', 'ours'];
    const { stdout, exitCode } = await new Terminal(gateway).type(line, session);
    expect(gateway.requests[0]).toMatchObject({
      ...{ method: 'POST', path: '/v1/admin/models/llama3/prices' },
      body: { usd_per_million: { input_tokens: '0', output_tokens: '0.1', cached_input_tokens: '0' }, source: 'ours' },
    });
    expect(stdout).toContain('Version\tv\n');
    expect(exitCode).toBe(0);
  });

  it('explains how to set a missing price', async () => {
    await using gateway = await startStubGateway();
    const { stderr, exitCode } = await new Terminal(gateway).type(['models', 'price', 'llama3'], session);
    expect(stderr).toContain('tallygate models price llama3 --input 0.15 --output 0.60');
    expect([exitCode, gateway.requests.length]).toEqual([2, 0]);
  });

  it('defines a model, and its price with it', async () => {
    await using gateway = await startStubGateway();
    gateway.script({ json: { ...model, id: 'llama3', pricing: null } }, { status: 201, json: priced });
    const { stdout } = await new Terminal(gateway).type(
      ['models', 'set', 'llama3', '--provider', 'ollama', '--context', '8192', '--variants', 'llama3*', '--input', '0', '--output', '0'],
      session,
    );
    expect(gateway.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['PUT', '/v1/admin/models/llama3', { provider: 'ollama', context_window: 8192, variants: ['llama3*'] }],
      ['POST', '/v1/admin/models/llama3/prices', { usd_per_million: { input_tokens: '0', output_tokens: '0' } }],
    ]);
    expect(stdout).toContain('(version v)');
  });

  it('takes back a definition', async () => {
    await using gateway = await startStubGateway();
    gateway.script({ status: 204 });
    const { stderr, exitCode } = await new Terminal(gateway).type(['models', 'remove', 'llama3'], session);
    expect(gateway.requests[0]).toMatchObject({ method: 'DELETE', path: '/v1/admin/models/llama3' });
    expect([stderr, exitCode]).toEqual(['Removed the definition of llama3.\n', 0]);
  });

  it('asks the providers for their models, and sees which need a price', async () => {
    await using gateway = await startStubGateway();
    gateway.script({ json: { providers: [{ provider: 'ollama', found: ['a', 'b'], without_price: ['b'], error: null }] } });
    const { stdout } = await new Terminal(gateway).type(['models', 'discover'], session);
    expect(gateway.requests[0]?.path).toBe('/v1/admin/models/discover');
    expect(stdout).toBe('ollama\t2\tb\t-\n');
  });
});
