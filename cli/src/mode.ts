import { type Command, Option } from 'commander';

/** Of commands that show what belongs to live or to test keys. */
export interface ModeOptions {
  readonly test?: true;
  readonly live?: true;
}

/** Adds `--test` and `--live`, the same words as everywhere. */
export const withMode = (command: Command): Command =>
  command
    .addOption(new Option('--test', 'of test mode').conflicts('live'))
    .option('--live', 'of live mode (default: that of the API key; live for a login)');

/** What an empty list says to a person: keys of one mode know nothing of what the other's did. */
export const noneIn = ({ test, live }: ModeOptions): string => {
  if (test) return 'None in test mode.';
  return live ? 'None in live mode.' : 'None. What test keys did is shown with --test, what live keys did with --live.';
};

/** As a query parameter; empty without an option, so that the API's default is used. */
export const livemodeOf = ({ test, live }: ModeOptions): { livemode?: boolean } =>
  test ? { livemode: false } : live ? { livemode: true } : {};
