import type { Tallygate } from '@tallygate/sdk';
import { type Command, CommanderError, InvalidArgumentError, type OptionValues } from 'commander';
import { isClose } from './close-names.ts';
import type { CredentialNeed } from './connect.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { World } from './world.ts';

/** Options that every command takes. */
export interface GlobalOptions {
  readonly profile: string;
  readonly baseUrl?: string;
}

/** What a command is given: the outside, and a way to the gateway. */
export interface CommandWorld extends World {
  readonly profile: string;
  /** Of `--base-url`. */
  readonly baseUrl: string | undefined;
  /** The fields that `--json` asks for; `undefined` without it. */
  readonly jsonFields: readonly string[] | undefined;
  /** A client with the credential that the command needs. */
  connect(need?: CredentialNeed): Promise<Tallygate>;
}

/** What was typed after the command's name. */
export interface Typed<Options> {
  readonly args: readonly string[];
  readonly options: Options;
}

type Run<Options> = (world: CommandWorld, typed: Typed<Options>) => Promise<ExitCode> | Promise<void>;

/** Turns a command into commander's action. */
export type Perform = <Options extends OptionValues>(run: Run<Options>) => (...all: unknown[]) => Promise<void>;

/** @param onExit gets the exit code of the command that ran */
export function performer(world: World, onExit: (code: ExitCode) => void): Perform {
  return (run) =>
    async (...all) => {
      // Commander passes the arguments, the options and the command, in this order.
      const command = all.at(-1) as Command;
      const { profile, baseUrl } = command.optsWithGlobals<GlobalOptions>();
      const { json: jsonFields } = command.optsWithGlobals<{ json?: readonly string[] }>();
      const commandWorld: CommandWorld = {
        ...world,
        ...{ profile, baseUrl, jsonFields },
        // Loaded when a command gets there: help and wrong usage need neither.
        connect: async (need) => (await import('./connect.ts')).connect(commandWorld, need),
        // What goes to a terminal shows its progress by itself.
        saveBytes: async (path, bytes) => {
          const [{ requireWritable }, { counted, ProgressLine }] = await Promise.all([import('./output-file.ts'), import('./progress.ts')]);
          await requireWritable(world, path);
          await world.saveBytes(path, path === '-' && world.out.isTty ? bytes : counted(bytes, new ProgressLine(world.err)));
        },
      };
      onExit((await run(commandWorld, { args: command.args, options: optionsOf(command) })) ?? EXIT.ok);
    };
}

/** Options come before or after `list`: they are those of the noun. */
const optionsOf = <Options extends OptionValues>(command: Command): Options =>
  (listsOfNouns.has(command) ? command.parent : command)?.opts<Options>() ?? command.opts<Options>();
const listsOfNouns = new WeakSet<Command>();

/** A noun that is a list by itself: who knows the other nouns types `models list`. The help keeps to the short form. */
export const alsoAsList = (command: Command, action: ReturnType<Perform>): Command => {
  listsOfNouns.add(command.command('list', { hidden: true }).action(action));
  return command.usage(['[options]', ...command.registeredArguments.map((each) => `[${each.name()}]`)].join(' ')).action(action);
};

const fieldsOf = new WeakMap<Command, readonly string[]>();

/** What `--json` of a command can be asked for; nothing where it has no such option. */
export const jsonFieldsOf = (command: Command): readonly string[] => fieldsOf.get(command) ?? [];

/**
 * Adds `--json [fields]`. Without a value it lists the fields instead of running the command, so that a script's author finds them
 * without making a key or naming a file.
 */
export function withJson(fields: readonly string[], command: Command): Command {
  fieldsOf.set(command, fields);
  const help = 'print these fields as JSON (comma-separated, or `all`); without a value, list the fields';
  return command
    .option('--json [fields]', help, (wanted) => chosenFields(wanted, fields))
    .on('option:json', (value: string | null | undefined) => {
      if (typeof value === 'string') return;
      command.configureOutput().writeOut?.(`${fields.join('\n')}\n`);
      throw new CommanderError(0, 'tallygate.fields', 'The fields were listed.');
    });
}

function chosenFields(wanted: string, fields: readonly string[]): readonly string[] {
  if (wanted === 'all') return fields;
  const chosen = wanted.split(',').map((field) => field.trim());
  const unknown = chosen.find((field) => !fields.includes(field));
  if (unknown === undefined) return chosen;
  const meant = fields.filter((field) => isClose(field, unknown)).slice(0, 3);
  const question = meant.length === 0 ? '' : ` Did you mean ${meant.join(' or ')}?`;
  throw new InvalidArgumentError(`There is no field "${unknown}".${question} The fields are ${fields.join(', ')}.`);
}
