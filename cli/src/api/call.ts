import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { readText } from '../given-file.ts';

interface Options {
  readonly method?: string;
  readonly input?: string;
  readonly output?: string;
  readonly session?: true;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Every operation of the API, also those that have no command. */
export const callApi = (command: Command, perform: Perform): Command =>
  command
    .argument('<path>', 'such as /v1/usage?group_by=model; `tallygate discovery get agents` lists them', pathOfApi)
    .addOption(new Option('-X, --method <method>', 'default: GET, and POST with --input').choices(METHODS))
    .option('--input <file>', 'JSON body; - for stdin')
    .option('-o, --output <file>', 'write the response to a file')
    .option('--session', 'use the login before an API key')
    .action(perform(call));

async function call(world: CommandWorld, { args: [path = ''], options }: Typed<Options>): Promise<void> {
  const { input, output = '-', session } = options;
  const body = input === undefined ? undefined : jsonIn(await readText(world, input));
  const method = METHODS.find((name) => name === options.method) ?? (input === undefined ? 'GET' : 'POST');
  const client = await world.connect(session ? 'session' : 'any');
  const answer = await client.request({ method, path, body }, { signal: world.signal });
  if (world.out.isTty && output === '-' && isJson(answer)) world.out.write(`${JSON.stringify(await answer.json(), null, 2)}\n`);
  else if (isText(answer) && output === '-') world.out.write(await answer.text());
  else if (answer.body) await world.saveBytes(output, answer.body);
  if (output !== '-') world.err.write(`Wrote ${output}.\n`);
}

const typeOf = ({ headers }: Response): string => headers.get('content-type') ?? '';
const isJson = (answer: Response): boolean => /^application\/json\b/.test(typeOf(answer));
const isText = (answer: Response): boolean => isJson(answer) || /^text\/|^application\/yaml\b/.test(typeOf(answer));

/** A whole address would carry the credential to somebody else. */
function pathOfApi(text: string): string {
  if (/^\/(?!\/)/.test(text)) return text;
  throw new InvalidArgumentError('Expected a path that begins with /, such as /v1/usage.');
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure('no_json', 'The input is not JSON.', EXIT.usage);
  }
}
