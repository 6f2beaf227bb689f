import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from '../server/src/app/config.ts';
import { importLitellm } from './import-litellm/import-litellm.ts';

const CONFIG = `
model_list:
  - model_name: gpt-4o
    litellm_params: { model: azure/gpt-4o-sweden, api_base: https://my-resource.openai.azure.com/, api_key: os.environ/AZURE_KEY, weight: 3 }
  - model_name: gpt-4o
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_KEY }
  - model_name: gpt-4o-mini
    litellm_params: { model: gpt-4o-mini, api_key: os.environ/OPENAI_KEY }
  - model_name: house-model
    litellm_params:
      model: hosted_vllm/llama-3
      api_base: http://127.0.0.1:8000/v1
      input_cost_per_token: 0.0000001
      output_cost_per_token: 2.5e-06
  - model_name: claude
    litellm_params: { model: anthropic/claude-sonnet-4-5, api_key: sk-ant-in-clear }
  - model_name: titan
    litellm_params: { model: bedrock/amazon.titan }
litellm_settings:
  drop_params: true
`;
const KEYS = `key_alias,key_name,models,max_budget,budget_duration,rpm_limit,tpm_limit,blocked,expires
search,sk-...ab12,"{gpt-4o,gpt-4o-mini}",25,30d,60,,f,
"the ""old"" one",sk-...cd34,{all-team-models},10,7d,,1000,,2027-01-01 00:00:00
gone,sk-...ef56,{},,,,,t,
late,sk-...gh78,{},,,,,f,2020-01-01
`;
const NOW = Date.parse('2026-11-25');

const home = mkdtempSync(join(tmpdir(), 'tallygate-litellm-'));
afterAll(() => rmSync(home, { recursive: true }));
const said: string[] = [];
writeFileSync(join(home, 'config.yaml'), CONFIG);
writeFileSync(join(home, 'keys.csv'), KEYS);
const to = join(home, 'import');
const exitCode = importLitellm([join(home, 'config.yaml'), '--keys', join(home, 'keys.csv'), '--to', to], NOW, (text) => said.push(text));
const written = (name: string) => readFileSync(join(to, name), 'utf8');

test('writes a file of providers that the gateway takes, without a key in it', () => {
  expect({ exitCode, said }).toEqual({ exitCode: 0, said: [expect.stringMatching(/^4 providers, 1 prices, 2 keys/)] });
  const env = { AZURE_KEY: 'a', OPENAI_KEY: 'b', ANTHROPIC_API_KEY: 'c', PROVIDERS_FILE: join(to, 'providers.json') };
  const { providers } = readConfig({ ...env, ANTHROPIC_BASE_URL: '' });
  expect(providers.map(({ name, kind, apiKey, weight }) => [name, kind, apiKey, weight]).slice(0, 4)).toEqual([
    ['azure-1', 'azure_openai', 'a', 3],
    ['openai-2', 'openai', 'b', 1],
    ['hosted-vllm-3', 'openai', undefined, 1],
    ['anthropic-4', 'anthropic', 'c', 1],
  ]);
  const [azure, openai] = JSON.parse(written('providers.json')).providers;
  expect([azure.deployments, openai.models]).toEqual([{ 'gpt-4o': 'gpt-4o-sweden' }, { 'gpt-4o': 'gpt-4o', 'gpt-4o-mini': 'gpt-4o-mini' }]);
  expect(written('providers.json')).not.toContain('in-clear');
});

test('takes over prices exactly, by the million', () => {
  expect(written('prices.sh')).toBe('tallygate-server admin model house-model --provider hosted-vllm-3 --input 0.1 --output 2.5\n');
});

test('makes a command for each key that still works, with its cap, models and limits', () => {
  expect(written('keys.sh').split('\n')).toEqual([
    'npx tallygate keys create --name search --cap 25 --model gpt-4o --model gpt-4o-mini --rpm 60',
    expect.stringMatching(/^npx tallygate keys create --name 'the "old" one' --expires 2027-01-01T\S+Z --tpm 1000$/),
    '',
  ]);
});

test('names what it leaves out', () => {
  const leftOut = written('left-out.txt');
  for (const word of ['titan', 'ANTHROPIC_API_KEY', 'a budget of 10 per 7d', 'key gone: blocked', 'key late: expired'])
    expect(leftOut).toContain(word);
});
