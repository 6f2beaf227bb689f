import type { CommandWorld } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { plainText, usdText } from '../print.ts';

/** The arguments after the options, else stdin. @param what the name of what is missing without both */
export async function promptOf(
  { input }: CommandWorld,
  args: readonly string[],
  { what, example }: { readonly what: 'question' | 'prompt' | 'text'; readonly example: string },
): Promise<string> {
  if (args.length > 0) return args.join(' ');
  const prompt = input.isTty ? '' : (await input.readAll()).trim();
  if (prompt !== '') return prompt;
  throw new Failure('usage', `There is no ${what}.`, EXIT.usage, `Try \`${example}\`.`);
}

/** A piece of an answer: untouched for a pipe, harmless for a terminal. */
export const writeAnswer = ({ out }: Pick<CommandWorld, 'out'>, text: string): void => out.write(out.isTty ? plainText(text) : text);

interface Paid {
  readonly cost: string | undefined;
  readonly receiptId: string | undefined;
  readonly model: string;
}

/** What an answer cost and which receipt proves it, beside the answer. */
export const writeRemark = ({ err }: Pick<CommandWorld, 'err'>, { cost, receiptId, model }: Paid): void =>
  err.write(plainText(`cost ${cost ?? 'unknown'} USD, receipt ${receiptId ?? 'none'}, ${model}\n`));

export const costText = (cost: number | undefined): string | undefined => (cost === undefined ? undefined : usdText(cost));
