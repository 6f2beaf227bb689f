import { model, refusal } from '@tallygate/sdk/testing/fixtures';
import { startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { expect, it } from 'vitest';
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
  expect(stdout).toMatch(/\nStand-ins\t-\nPrices\tinput_tokens 0\.15 USD\/1M/);
  gateway.script(refusal('model_not_found'), { json: { object: 'list', data: [model] } });
  expect((await terminal.type(['models', 'gpt4o-mini'])).stderr).toContain('Did you mean gpt-4o-mini?');
});

it('prints whole records as JSON where all fields are asked for', async () => {
  await using gateway = await startStubGateway();
  gateway.script({ json: { object: 'list', data: [model] } });
  const { stdout } = await new Terminal(gateway).type(['models', '--json', 'all']);
  const { object: _, ...fields } = model;
  expect(JSON.parse(stdout)).toEqual([fields]);
});

it.each([
  ['0.00000015', '0.15'],
  ['0.000015', '15'],
  ['0.0000000375', '0.0375'],
  ['1', '1000000'],
  ['0.00000006', '0.06'],
])('moves %s per unit to %s per million, exactly', (perUnit, expected) => expect(perMillion(perUnit)).toBe(expected));
