import { type ExampleGateway, startExampleGateway } from '@tallygate/sdk/testing/example-gateway';
import { startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { SAMPLES } from '../../docs/samples/index.ts';
import { Terminal } from '../testing/terminal.ts';

let gateway: ExampleGateway;
beforeAll(async () => {
  gateway = await startExampleGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.asked.length = 0;
});

/** As a shell splits it: words, and texts in double quotes. */
const wordsOf = (command: string): string[] => [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

const commands = Object.entries(SAMPLES).flatMap(([id, { cli }]) => (cli === undefined ? [] : [[cli, id] as const]));
const PASSWORD = 'seven grey herons at dawn';
/** What is asked before something is permanently gone is answered with yes, everything else with the password. */
const answersTo = (command: string) => ({
  isTty: true,
  typed: command.startsWith('tallygate keys revoke') ? ['y'] : [PASSWORD, PASSWORD, PASSWORD],
});

test.each(commands)('%s is %s', async (command, id) => {
  await using stub = await startStubGateway();
  const terminal = new Terminal(stub);
  terminal.files.set('lines.jsonl', '{}\n');
  const session = await terminal.type(wordsOf(command).slice(1), { ...answersTo(command), sessionToken: 'tgs_x', baseUrl: gateway.url });
  expect(session.exitCode, session.stderr).not.toBe(2);
  expect(gateway.asked, session.stderr).toContain(id);
});
