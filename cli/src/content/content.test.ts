import { refusal } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const piece = {
  ...{ content_id: ID, type: 'post', slug: 'hello', title: 'Hello', summary: null, body: '# Hi\u202e!\n', tags: ['a', 'b'] },
  ...{ status: 'draft', version: 4, created_by: null, updated_by: null },
  ...{ created_at: '2026-11-21T08:00:00.000Z', updated_at: '2026-11-21T08:00:00.000Z', first_published_at: null, published_at: null },
};

describe('content', () => {
  it('create takes the text from a file, or from stdin', async () => {
    terminal.files.set('hello.md', '# Hi');
    gateway.script({ status: 201, json: piece }, { status: 201, json: piece });
    const argv = ['content', 'create', 'hello.md', '--slug', 'hello', '--title', 'Hello', '--tags', 'a,b'];
    const { stdout, stderr, exitCode } = await terminal.type(argv);
    expect([stdout.split('\n')[0], stderr, exitCode]).toEqual([
      `id\t${ID}`,
      `A draft: \`tallygate content publish ${ID}\` publishes it.\n`,
      0,
    ]);
    await terminal.type(['content', 'create', '-', '--slug', 'hello', '--title', 'Hello'], {
      apiKey: 'tg_test_secret',
      stdin: 'From a pipe',
    });
    expect(gateway.requests.map(({ body }) => body)).toEqual([
      { type: 'post', slug: 'hello', title: 'Hello', tags: ['a', 'b'], body: '# Hi' },
      { type: 'post', slug: 'hello', title: 'Hello', body: 'From a pipe' },
    ]);
    expect(await terminal.type(['content', 'create', 'gone.md', '--slug', 'x', '--title', 'x'])).toMatchObject({
      stderr: expect.stringContaining('There is no file gone.md.'),
      exitCode: 2,
    });
  });

  it('update changes the newest version, or the one that is named and no newer one', async () => {
    gateway.script({ json: piece }, { json: piece }, refusal('conflict', { detail: 'It is at version 4 by now.' }));
    await terminal.type(['content', 'update', ID, '--title', 'Hi', '--summary', 'none']);
    const { stderr, exitCode } = await terminal.type(['content', 'update', ID, '--title', 'Hi', '--from', '3']);
    expect(gateway.requests.map(({ method, body }) => [method, body])).toEqual([
      ['GET', undefined],
      ['PATCH', { version: 4, title: 'Hi', summary: null }],
      ['PATCH', { version: 3, title: 'Hi' }],
    ]);
    expect([stderr, exitCode]).toEqual([expect.stringContaining('It is at version 4 by now.'), 1]);
    expect((await terminal.type(['content', 'update', ID])).exitCode).toBe(2);
  });

  it('list and get print the content, without characters that reverse the terminal’s text', async () => {
    gateway.script({ json: { data: [piece, piece], has_more: true, next_cursor: 'next' } }, { json: piece });
    const listed = await terminal.type(['content', 'list', '--type', 'post', '--limit', '1'], { apiKey: 'tg_test_secret', isTty: true });
    expect(listed.stdout).toContain(`${ID}  post  draft   hello  Hello`);
    expect(listed.stderr).toBe('The first 1; --limit or --all shows more.\n');
    expect(gateway.requests[0]?.query).toEqual({ type: 'post', limit: '2' });
    expect((await terminal.type(['content', 'get', ID, '--body'])).stdout).toBe('# Hi!\n');
  });

  it('publish prints the address, unpublish that it is not public', async () => {
    gateway.script({ json: piece }, { json: piece });
    expect((await terminal.type(['content', 'publish', ID])).stderr).toBe(`Published: GET ${gateway.baseUrl}/v1/content/hello\n`);
    expect((await terminal.type(['content', 'unpublish', ID])).stderr).toBe('hello is a draft again.\n');
  });
});
