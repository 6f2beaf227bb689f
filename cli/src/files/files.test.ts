import { storedFile as file, refusal } from '@tallygate/sdk/testing/fixtures';
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

const { id } = file(1);
const ROW = `${id}\trequests.jsonl\t120000\tuser_data\t2025-11-21T08:00:00.000Z\n`;

describe('files', () => {
  it('are listed to the last page', async () => {
    const page = (number: number, has_more: boolean) => ({
      json: { object: 'list', data: [file(number)], first_id: file(number).id, last_id: file(number).id, has_more },
    });
    gateway.script(page(1, true), page(2, false));
    const { stdout } = await terminal.type(['files', 'list', '--purpose', 'user_data']);
    expect(stdout).toBe(ROW + ROW.replace(id, file(2).id));
    expect(gateway.requests[1]?.query).toEqual({ purpose: 'user_data', limit: '51', after: id });
  });

  it('are shown as JSON where that is asked for', async () => {
    gateway.script({ json: file(1) });
    expect((await terminal.type(['files', 'get', id, '--json', 'id,bytes'])).stdout).toBe(`{"id":"${id}","bytes":120000}\n`);
  });

  it('are uploaded under their own name, or another', async () => {
    terminal.files.set('data/requests.jsonl', '{}\n');
    gateway.script({ json: file(1) }, { json: file(1) });
    const { stdout, exitCode } = await terminal.type(['files', 'upload', 'data/requests.jsonl', '--purpose', 'batch', '--json', 'id']);
    expect([stdout, exitCode]).toEqual([`{"id":"${id}"}\n`, 0]);
    expect(gateway.requests[0]?.body).toEqual({ purpose: 'batch', file: '{}\n' });
    await terminal.type(['files', 'upload', 'data/requests.jsonl', '--name', 'x', '--expires-after', '3600']);
    expect(gateway.requests[1]?.body).toMatchObject({ purpose: 'user_data', 'expires_after[seconds]': 3600 });
  });

  it('that are not there are not asked about', async () => {
    const { stderr, exitCode } = await terminal.type(['files', 'upload', 'nowhere.txt']);
    expect([exitCode, gateway.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain('There is no file nowhere.txt.');
  });

  it('are downloaded to stdout, byte for byte, or to a file', async () => {
    gateway.script({ text: 'the bytes' }, { text: 'the bytes' });
    expect(await terminal.type(['files', 'content', id])).toEqual({ stdout: 'the bytes', stderr: '', exitCode: 0 });
    const { stdout, stderr } = await terminal.type(['files', 'content', id, '-o', 'out.bin']);
    expect([stdout, stderr, terminal.files.get('out.bin')]).toEqual(['', 'Wrote out.bin.\n', 'the bytes']);
  });

  it('are deleted, and a missing one is a failure', async () => {
    gateway.script({ json: { id, object: 'file', deleted: true } }, refusal('not_found'));
    expect(await terminal.type(['files', 'delete', id])).toEqual({ stdout: '', stderr: `Deleted ${id}.\n`, exitCode: 0 });
    expect((await terminal.type(['files', 'delete', id])).exitCode).toBe(1);
  });
});
