import type { Argument, Command, Option } from 'commander';

interface Sections {
  readonly version: string;
  /** The section after the help of the program. */
  readonly environment: readonly (readonly [name: string, about: string])[];
  readonly exitCodes: readonly (readonly [code: number, about: string])[];
}

/** `man tallygate`, in the macros of man(7), from the commands as they are. */
export function manPage(program: Command, { version, environment, exitCodes }: Sections): string {
  const name = program.name();
  return [
    `.TH ${name.toUpperCase()} 1 "" "${name} ${text(version)}" "Tallygate"`,
    ...['.SH NAME', `${name} \\- ${text(program.description())}`],
    ...['.SH SYNOPSIS', `.B ${name}`, '[options] command [subcommand] [arguments]'],
    ...['.SH OPTIONS', ...program.options.flatMap(optionLines)],
    ...['.SH COMMANDS', ...leavesOf(program).flatMap((command) => commandLines(command))],
    ...['.SH ENVIRONMENT', ...environment.flatMap(([variable, about]) => ['.TP', `.B ${text(variable)}`, text(about)])],
    ...[
      '.SH FILES',
      '.TP',
      '.I ~/.config/tallygate/credentials.json',
      'Logins, mode 0600; the sessions themselves are in the keyring where there is one.',
    ],
    ...['.SH "EXIT STATUS"', ...exitCodes.flatMap(([code, about]) => ['.TP', `.B ${code}`, text(about)])],
    '',
  ].join('\n');
}

/** The commands that do something, in the order of the help. */
const leavesOf = (command: Command): Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== 'help')
    .flatMap((each) => {
      const below = leavesOf(each);
      return below.length > 0 ? below : [each];
    });

function commandLines(command: Command): string[] {
  const takes = command.registeredArguments.map(argumentText).join(' ');
  return [
    `.SS "${text(`${pathOf(command)} ${takes}`.trimEnd())}"`,
    text(command.description()),
    ...command.registeredArguments
      .filter(({ description }) => description)
      .flatMap((each) => ['.TP', `.I ${text(each.name())}`, text(each.description)]),
    ...command
      .createHelp()
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .flatMap(optionLines),
  ];
}

const pathOf = (command: Command): string => (command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name());

const argumentText = (argument: Argument): string => {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
};

function optionLines({ flags, description, argChoices, defaultValue }: Option): string[] {
  const choices = argChoices ? `; one of ${argChoices.join(', ')}` : '';
  const normal =
    defaultValue === undefined || defaultValue === true || typeof defaultValue === 'object' ? '' : `; default: ${String(defaultValue)}`;
  return ['.TP', `.B ${text(flags)}`, text(`${description}${choices}${normal}`)];
}

/** A dash is a minus that can be searched for and copied; no line begins a macro by accident; what is not ASCII has its number. */
const text = (plain: string): string =>
  plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll(/[^ -~\n]/gu, (letter) => `\\[u${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`)
    .replaceAll(/^(?=['.])/gm, '\\&')
    .replaceAll(/\s*\n\s*/g, '\n.br\n');
