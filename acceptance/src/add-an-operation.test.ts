// Adds an operation to the contract, in memory, as CONTRIBUTING.md says, and looks at what follows from it without further hands.
import { existsSync, readFileSync } from 'node:fs';
import { contract, KeyPath } from '@tallygate/contract';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { fieldsModule } from '../../cli/scripts/generate-fields.ts';
import { headersA, page, pageQuery, problem, refusals, Timestamp, Uuid } from '../../contract/src/conventions.ts';
import { openApiDocument } from '../../contract/src/openapi.ts';
import { modelsModule } from '../../sdk/scripts/generate-models.ts';
import { clientModule, resourcesModule } from '../../sdk/scripts/generate-resources.ts';
import { toolsOf } from '../../server/src/discovery/mcp/tools.ts';
import { readSurface } from '../../server/src/discovery/surface.ts';

const KeyNote = z
  .object({ note_id: Uuid, text: z.string().meta({ examples: ['Rotate before June.'] }), created_at: Timestamp })
  .meta({ id: 'KeyNote', description: 'A note on a key.' });
const KeyNoteListResponse = page(KeyNote).meta({ id: 'KeyNoteListResponse', description: 'Notes, newest first.' });
const router = {
  ...contract,
  notes: {
    list: {
      method: 'GET',
      path: '/v1/keys/:key_id/notes',
      summary: 'List the notes on a key',
      description: 'Newest first.',
      headers: headersA,
      pathParams: KeyPath,
      query: z.object({ ...pageQuery, text: z.string().optional().meta({ description: 'Only those with these words.' }) }),
      responses: { 200: KeyNoteListResponse, 404: problem, ...refusals.read },
      metadata: { auth: 'bearer', scope: 'account:read', tag: 'Keys', operationId: 'listKeyNotes', sdk: 'keyNotes.list', tool: 'read' },
    },
  },
} as const;
const exported = { KeyNote, KeyNoteListResponse };
const document = openApiDocument(router);
const operation = document.paths['/v1/keys/{key_id}/notes']?.['get'];

const ROOT = new URL('../../', import.meta.url);
const recipeOf = (title: string): string => {
  const text = readFileSync(new URL('CONTRIBUTING.md', ROOT), 'utf8');
  return text.split('\n').find((line) => line.startsWith(`**${title}.** `)) ?? '';
};
/** The place of a real slice in the recipes. */
const SLICE: Readonly<Record<string, string>> = { room: 'access', slice: 'keys', 'use-case': 'keys', verb: 'list' };

test.each(['Add an operation', 'Add a slice'])('every file that “%s” names is there for a real slice', (title) => {
  const files = [...recipeOf(title).matchAll(/`((?:[\w<>-]+\/)+[\w<>.-]+\.(?:ts|md))`/g)].map(([, file = '']) =>
    file.replaceAll(/<([\w-]+)>/g, (_, part) => SLICE[part] ?? ''),
  );
  const known = (file: string) => [file, `server/src/${file}`].some((path) => existsSync(new URL(path, ROOT)));
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((file) => !known(file))).toEqual([]);
});

test('the recipe touches at most five files by hand', () => {
  const [steps = ''] = recipeOf('Add an operation').split('_Tests:_');
  const files = [...steps.matchAll(/\(\d\) `([^`]+\.ts)`/g)].map(([, file]) => file);
  expect(files.length).toBeGreaterThan(2);
  expect(files.length).toBeLessThanOrEqual(5);
  expect(files.filter((file) => /generated|openapi/.test(file ?? ''))).toEqual([]);
});

test('the SDK has its method, its list, its query and its records', () => {
  const resources = resourcesModule(router, exported);
  expect(resources).toContain('export class KeyNotes extends Resource');
  expect(resources).toContain(
    'list(keyId: string, query?: KeyNoteQuery, options?: CallOptions): PagedCall<KeyNoteListResponse, KeyNote> {',
  );
  expect(resources).toContain('/notes`, query: { ...query } }, options);');
  expect(resources).toMatch(/export interface KeyNoteQuery \{[^}]*readonly text\?: string \| undefined;/);
  expect(clientModule(router)).toContain('this.keyNotes = new KeyNotes(transport);');
  expect(modelsModule(exported)).toContain('export interface KeyNote {');
});

test('the reference has its page: parameters, answer, refusals and a sample', () => {
  expect(operation?.parameters).toContainEqual({ $ref: '#/components/parameters/key_id' });
  expect(Object.keys(operation?.responses ?? {})).toEqual(['200', '401', '403', '404', '422', '429', '431', '500', '503']);
  expect(operation?.['x-codeSamples']?.[0]?.source).toBe(
    "for await (const keyNote of tallygate.keyNotes.list('019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77')) console.log(keyNote.note_id);",
  );
});

test('a command finds its fields', () => {
  expect(fieldsModule(document)).toContain("export const KeyNoteFields = ['note_id', 'text', 'created_at'];");
});

test('agents find it as a tool', () => {
  const tool = toolsOf(readSurface(JSON.stringify(document))).get('list_key_notes');
  expect(tool?.description.annotations.readOnlyHint).toBe(true);
  expect(Object.keys(Object(tool?.description.inputSchema['properties']))).toEqual(['key_id', 'limit', 'cursor', 'text']);
});
