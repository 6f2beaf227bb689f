import { contract, GoogleGenerationConfig } from '@tallygate/contract';
import { describe, expect, test } from 'vitest';
import { COST_FIELDS } from './cost-fields.ts';
import { GENERATION_CONFIG } from './google-fields.ts';
import { OTHER_NAMES } from './other-names.ts';
import { fieldsKept, membersOf, PATHS, REQUESTS, typesIn } from './testing/requests.ts';
import { CHAT_TOOLS, RESPONSE_TOOLS } from './tool-rules.ts';

describe('the table of cost fields', () => {
  test('has every operation of the contract that runs a model', () => {
    const running = Object.values(contract.inference).filter(
      (route) => route.method === 'POST' && route.headers && 'x-agent-max-budget' in route.headers,
    );
    expect(running.map(({ path }) => path).sort()).toEqual(Object.keys(COST_FIELDS).sort());
    expect(PATHS.toSorted()).toEqual(Object.keys(COST_FIELDS).sort());
  });

  test.each(PATHS)('has every field that the contract names for %s', (path) => {
    const [schema] = REQUESTS[path];
    expect(Object.keys(schema.shape).filter((name) => !Object.hasOwn(COST_FIELDS[path] ?? {}, name))).toEqual([]);
  });

  test.each(PATHS)('has every field of its maker’s document for %s', (path) => {
    const [, file, name, maker = undefined] = REQUESTS[path];
    const members = membersOf(file, name, maker);
    expect(members.length).toBeGreaterThan(0);
    expect(members.filter((member) => !fieldsKept(path).has(member))).toEqual([]);
  });

  test('has every type of tool in OpenAI’s document', () => {
    const union = /export type Tool = ([^;]+);/.exec(typesIn('responses/responses'))?.[1] ?? '';
    const names = union.split(' | ').map((name) => name.replace('Tool.', ''));
    const types = names.flatMap((name) => {
      const body = new RegExp(`interface ${name}\\b[^{]*\\{(.*?)\\n {0,4}\\}`, 's').exec(typesIn('responses/responses'))?.[1] ?? '';
      return [...(/^ +type: ([^;]+);/m.exec(body)?.[1] ?? '').matchAll(/'([^']+)'/g)].map(([, type = '']) => type);
    });
    expect(types.length).toBeGreaterThanOrEqual(names.length);
    expect(types.filter((type) => !RESPONSE_TOOLS.has(type))).toEqual([]);
    expect([...CHAT_TOOLS.keys()]).toEqual(['function', 'custom']);
  });

  test('has every type of tool in Anthropic’s document: the caller’s pass, and no other', () => {
    const text = typesIn('beta/messages/messages', 'anthropic');
    const names = /export type BetaToolUnion = ([^;]+);/.exec(text)?.[1]?.split(' | ') ?? [];
    const types = names.flatMap((name) => {
      const body = new RegExp(`interface ${name}\\b[^{]*\\{(.*?)\\n\\}`, 's').exec(text)?.[1] ?? '';
      return [...(/^ {4}type\??: ([^;]+);/m.exec(body)?.[1] ?? '').matchAll(/'([^']+)'/g)].map(([, type = '']) => type);
    });
    const refused = types.flatMap((type) => COST_FIELDS['/v1/messages']?.['tools']?.unpriced?.([{ type, name: 'x' }], 'tools')?.what ?? []);
    expect(types.length).toBeGreaterThanOrEqual(names.length);
    expect(refused.filter((what) => !what.startsWith('tools that the provider runs'))).toEqual([]);
    expect(types.filter((type) => !refused.some((what) => what.endsWith(` ${type}`)))).toEqual(
      expect.arrayContaining(['custom', 'bash_20250124', 'text_editor_20250728', 'computer_20251124', 'memory_20250818']),
    );
  });

  test('says on messages too what is held of every field that costs in a chat', () => {
    const { '/v1/chat/completions': chat = {}, '/v1/messages': messages = {} } = COST_FIELDS;
    const renamed = new Set(OTHER_NAMES['/v1/messages']?.flatMap(({ names }) => names));
    const costing = Object.keys(chat).filter((name) => chat[name]?.kept === 'counted' && !chat[name].mayHoldFields);
    expect(costing.filter((name) => !Object.hasOwn(messages, name) && !renamed.has(name))).toEqual([]);
  });

  test('has every member of Google’s `generationConfig` and every tool that Google runs, which it refuses', () => {
    const { generationConfig, tools } = COST_FIELDS['/v1beta/models/:model/generateContent'] ?? {};
    expect(membersOf('genai', 'GenerationConfig', 'google').filter((name) => !Object.hasOwn(GENERATION_CONFIG, name))).toEqual([]);
    expect(Object.keys(GoogleGenerationConfig.shape).toSorted()).toEqual(Object.keys(GENERATION_CONFIG).toSorted());
    const refused = Object.entries(GENERATION_CONFIG).flatMap(([name, { kept }]) => (kept === 'refused' ? [name] : []));
    for (const name of refused) expect(generationConfig?.unpriced?.({ [name]: 'x' }, 'c'), name).toMatchObject({ param: `c.${name}` });
    const hosted = membersOf('genai', 'Tool', 'google').filter((name) => name !== 'functionDeclarations');
    for (const name of hosted) expect(tools?.unpriced?.([{ [name]: {} }], 't'), name).toMatchObject({ param: `t[0].${name}` });
    expect(hosted.length).toBeGreaterThan(8);
  });

  test('says of every field why it is kept as it is', () => {
    for (const [path, fields] of Object.entries(COST_FIELDS))
      for (const [name, { how, kept, unpriced }] of Object.entries(fields)) {
        expect(how.length, `${path} ${name}`).toBeGreaterThan(3);
        if (kept === 'refused') expect(unpriced, `${path} ${name}`).toBeDefined();
        if (kept === 'free') expect(unpriced, `${path} ${name}`).toBeUndefined();
      }
  });
});
