import { contract, GoogleGenerationConfig } from '@tallygate/contract';
import { describe, expect, test } from 'vitest';
import { COST_FIELDS } from './cost-fields.ts';
import { GENERATION_CONFIG } from './google-fields.ts';
import { OTHER_NAMES } from './other-names.ts';
import { check, fieldsKept, membersOf, PATHS, REQUESTS, refusal, typesIn } from './testing/requests.ts';
import { CHAT_TOOLS, RESPONSE_TOOLS } from './tool-rules.ts';

const GENERATE_CONTENT = '/v1beta/models/:model/generateContent';

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
    const { tools } = COST_FIELDS[GENERATE_CONTENT] ?? {};
    expect(membersOf('genai', 'GenerationConfig', 'google').filter((name) => !Object.hasOwn(GENERATION_CONFIG, name))).toEqual([]);
    expect(Object.keys(GoogleGenerationConfig.shape).toSorted()).toEqual(Object.keys(GENERATION_CONFIG).toSorted());
    const refused = Object.entries(GENERATION_CONFIG).flatMap(([name, { kept }]) => (kept === 'refused' ? [name] : []));
    for (const name of refused)
      expect(check(GENERATE_CONTENT, { generationConfig: { [name]: 'x' } }), name).toThrow(
        refusal('unpriced_feature', `generationConfig.${name}`),
      );
    const hosted = membersOf('genai', 'Tool', 'google').filter((name) => name !== 'functionDeclarations');
    for (const name of hosted) expect(tools?.unpriced?.([{ [name]: {} }], 't'), name).toMatchObject({ param: `t[0].${name}` });
    expect(hosted.length).toBeGreaterThan(8);
  });

  test.each([
    [{ generationConfig: { tomorrow: { is: 'new' } } }],
    [{ tomorrow: true, safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }], labels: { team: 'web' } }],
    [{ contents: [{ parts: [{ fileData: { fileUri: 'https://example.com/a.png' } }] }] }],
  ])('lets pass of Google’s requests what costs nothing beside the prompt: %j', (request) => {
    expect(check(GENERATE_CONTENT, request)).not.toThrow();
  });

  test.each([
    [{ generationConfig: { maxoutputtokens: 9 } }, 'validation_failed', 'generationConfig.maxoutputtokens'],
    [{ generationConfig: { maxReplyTokens: 9 } }, 'unpriced_feature', 'generationConfig.maxReplyTokens'],
    [{ generationConfig: { tomorrow: { candidateCount: 9 } } }, 'validation_failed', 'generationConfig.tomorrow.candidateCount'],
    [{ generationConfig: { webSearch: true } }, 'unpriced_feature', 'generationConfig.webSearch'],
    [
      { contents: [{ parts: [{ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/a' } }] }] },
      'unpriced_feature',
      'contents[0].parts[0].fileData.fileUri',
    ],
    [
      { systemInstruction: { parts: [{ fileData: { fileUri: 'https://youtu.be/a' } }] } },
      'unpriced_feature',
      'systemInstruction.parts[0].fileData.fileUri',
    ],
  ])('refuses of Google’s requests what no price holds, also where no table has it: %j', (request, code, param) => {
    expect(check(GENERATE_CONTENT, request)).toThrow(refusal(code, param));
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
