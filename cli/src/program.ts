import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { type GlobalOptions, type Perform, performer } from './command.ts';
import { EXIT, EXIT_MEANINGS, type ExitCode } from './exit-codes.ts';
import { Failure, type FailureReport, failureText, reportOf } from './failure.ts';
import { addNouns } from './nouns.ts';
import { VERSION } from './version.ts';
import type { World } from './world.ts';

/** Variables that it reads. */
export const ENVIRONMENT: readonly (readonly [name: string, about: string])[] = [
  ['TALLYGATE_API_KEY', 'API key; has precedence over a login'],
  ['TALLYGATE_SESSION_TOKEN', 'session token; has precedence over a login'],
  ['TALLYGATE_BASE_URL', 'address of the gateway'],
  ['TALLYGATE_PROFILE', 'which login to use, where --profile says nothing'],
  ['TALLYGATE_INTERNAL_SECRET', 'for "users create"'],
  ['TALLYGATE_KEYRING', '"off": logins are stored in a file, not in the keyring of the computer'],
  ['NO_COLOR', 'no colours'],
];

const HELP = `
Environment:
${ENVIRONMENT.map(([name, about]) => `  ${name.padEnd(25)}  ${about}`).join('\n')}

Exit codes:
${EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`).join('\n')}`;

/** Runs one command line and says how the process should end. Everything it reads or writes is in `world`. */
export async function run(argv: readonly string[], world: World): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  const perform = performer(world, (code) => {
    exitCode = code;
  });
  const program = await build(world, perform, (noun) => argv.includes(noun));
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    // Help and version have been printed by commander; they are no failures.
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const isUsage = error instanceof CommanderError;
    const plain = await reportOf(isUsage ? await usageFailure(error, [program, ...placeOf(program, argv)]) : error);
    const report = isUsage ? plain : await advised(plain, argv, program, world);
    const isJson = argv.some((argument) => argument === '--json' || argument.startsWith('--json='));
    world.err.write(isJson ? `${JSON.stringify({ error: report })}\n` : failureText(report));
    return report.exit_code;
  }
}

async function advised(report: FailureReport, argv: readonly string[], program: Command, world: World): Promise<FailureReport> {
  const { withAdvice } = await import('./advice.ts');
  const place = placeOf(program, argv);
  const [noun] = place;
  const command = pathOf([program, ...place]);
  return withAdvice(report, { argv, noun, command }, { ...world, baseUrl: undefined, ...program.opts<GlobalOptions>() });
}

/** Every command, each with its options and its help; with `isNamed` only those of the nouns that it is true for. */
export async function build(
  world: Pick<World, 'env' | 'out' | 'err'>,
  perform: Perform,
  isNamed: (noun: string) => boolean = () => true,
): Promise<Command> {
  const program = new Command('tallygate')
    .description('Tallygate at the terminal: account, keys, budgets, usage, receipts, chat.')
    .version(VERSION)
    .option('--profile <name>', 'which login to use', profileName, profileName(world.env.profile ?? 'default'))
    .option('--base-url <url>', 'address of the gateway')
    .addHelpText('after', HELP)
    .showSuggestionAfterError()
    .exitOverride()
    // Errors are printed once, in `run`, where they can also become JSON.
    .configureOutput({ writeOut: world.out.write, writeErr: world.err.write, outputError: () => {} });

  await addNouns(program, perform, isNamed);
  return program;
}

/** A profile names a file. */
function profileName(text: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected letters, digits, - and _.');
}

/** Commander's sentences begin with "error:" and may go on with a suggestion in a second line. */
async function usageFailure(error: CommanderError, place: readonly [Command, ...Command[]]): Promise<Failure> {
  const help = `Run \`${pathOf(place)} --help\`.`;
  if (error.code === 'commander.help') return new Failure('usage', 'A command is missing.', EXIT.usage, help);
  const message = error.message.replace(/^error: /, '');
  const [, word] = /^(?:unknown (?:command|option) '([^']+)'|too many arguments)/.exec(message) ?? [undefined, ''];
  const { guessOf } = await import('./guesses.ts');
  const { meant, nextStep = help } = guessOf(place, word ?? firstExcess(message));
  const [said] = message.split('\n(Did you mean');
  return new Failure('usage', meant ? `${said}\n(Did you mean ${meant}?)` : message, EXIT.usage, nextStep);
}

/** `use` of "… Expected 0 arguments but got 2: use, nope." */
const firstExcess = (message: string): string => /: (\S+?)(?:,.*)?\.$/.exec(message)?.[1] ?? '';

/** `tallygate keys rotate`: the command that was typed, as far as there is one. */
const pathOf = (place: readonly Command[]): string => place.map((command) => command.name()).join(' ');

/** The commands that the words lead to, from the noun on. */
function placeOf(program: Command, argv: readonly string[]): readonly Command[] {
  const place: Command[] = [];
  for (const word of argv) {
    const next = (place.at(-1) ?? program).commands.find((candidate) => candidate.name() === word);
    if (next !== undefined) place.push(next);
  }
  return place;
}
