import type { Command, Option } from 'commander';
import { jsonFieldsOf } from '../command.ts';

/** A candidate for the next word. */
interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** Values that are not in the commands themselves; read from this computer, never from the gateway: a shell must not wait. */
export interface KnownValues {
  models(): Promise<readonly string[]>;
  profiles(): Promise<readonly string[]>;
}

/** The state of a command line after its complete words. */
interface Place {
  readonly command: Command;
  /** The option whose value comes next. */
  readonly option: Option | undefined;
}

/** The candidates for the word that is being typed. */
export async function candidatesFor(program: Command, words: readonly string[], known: KnownValues): Promise<Candidate[]> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  // `--by=mod` is one word to zsh and fish.
  const [assigned, name] = /^(--[^=]+)=/.exec(typed) ?? [];
  const { command, option } = placeAfter(program, name === undefined ? before : [...before, name]);
  const offered = option
    ? await valuesOf(command, option, known, typed.slice(assigned?.length ?? 0))
    : typed.startsWith('-')
      ? optionsOf(program, command)
      : commandsOf(command);
  const whole = option && assigned !== undefined ? offered.map(({ word, about }) => ({ word: `${assigned}${word}`, about })) : offered;
  return whole.filter(({ word }) => word.startsWith(typed));
}

function placeAfter(program: Command, words: readonly string[]): Place {
  let command = program;
  let option: Option | undefined;
  for (const word of words) {
    // Bash cuts `--json=field` in three.
    if (word === '=') continue;
    if (option) {
      option = undefined;
      continue;
    }
    if (word.startsWith('-'))
      option = [...command.options, ...program.options].find((each) => takesNext(each) && (each.long === word || each.short === word));
    else command = command.commands.find((each) => each.name() === word) ?? command;
  }
  return { command, option };
}

const takesNext = ({ required, optional }: Option): boolean => required || optional;

const commandsOf = (command: Command): Candidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== 'help')
    .map((each) => ({ word: each.name(), about: aboutOf(each) }));

function optionsOf(program: Command, command: Command): Candidate[] {
  const help = command.createHelp();
  const all = [...help.visibleOptions(command), ...program.options.filter(({ long }) => long !== '--version')];
  return [
    ...new Map(
      all.map((option) => [option.long ?? option.short ?? '', { word: option.long ?? option.short ?? '', about: option.description }]),
    ).values(),
  ];
}

async function valuesOf(command: Command, option: Option, known: KnownValues, typed: string): Promise<Candidate[]> {
  const words = (list: readonly string[]): Candidate[] => list.map((word) => ({ word, about: '' }));
  if (option.argChoices) return words(typed.includes(',') ? fieldsAfter(typed, option.argChoices) : option.argChoices);
  switch (option.long) {
    case '--json':
      return words(fieldsAfter(typed, jsonFieldsOf(command)));
    case '--model':
      return words(await known.models());
    case '--profile':
      return words(await known.profiles());
    default:
      return [];
  }
}

/** The next of a list such as `id,name`. */
function fieldsAfter(typed: string, fields: readonly string[]): readonly string[] {
  const list = typed.slice(0, typed.lastIndexOf(',') + 1);
  return list === '' ? ['all', ...fields] : fields.filter((field) => !list.split(',').includes(field)).map((field) => `${list}${field}`);
}

const aboutOf = (command: Command): string => command.summary() || command.description();
