import { statedUsage } from '../../../kernel/stated-usage.ts';
import type { Refusal, Words } from '../fault.ts';
import { isRecord, jsonIn, textIn } from '../json-value.ts';

const TOO_LONG =
  /input is too long|prompt is too long|too many input tokens|exceeds? (?:the )?(?:maximum )?context|context (?:window|length)/i;
/** What is wrong with the model as it is configured, its access or our account; AWS answers 400 to these too. */
const OURS =
  /model identifier is invalid|on-demand throughput isn.t supported|model use case details|not authorized|access to (?:this|the) model|end of its life|unsupported model/i;

/** AWS has one exception for all that is wrong with a request: its words alone say that the prompt is too long. */
export const saysTooLong = (exception: string | null, message: string): boolean =>
  /^validationexception$/i.test(exception ?? '') && TOO_LONG.test(message);

/**
 * Reads `{ message }`, whose exception is named in a header, or in the body by some of AWS's front ends.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
 */
export function bedrockWords(text: string, headers: Refusal['headers']): Words {
  const body = jsonIn(text);
  const stated = isRecord(body) ? body : {};
  const message = textIn(stated['message']) ?? textIn(stated['Message']) ?? text;
  const name = nameOf(headers['x-amzn-errortype']) ?? nameOf(stated['__type']) ?? null;
  const isTooLong = saysTooLong(name, message);
  return {
    message,
    param: isTooLong ? 'messages' : null,
    code: isTooLong ? 'context_length_exceeded' : name,
    usage: statedUsage(body),
    blames: name === 'ServiceQuotaExceededException' || OURS.test(message) ? 'gateway' : undefined,
  };
}

/** `ThrottlingException:http://internal.amazon.com/…`, `com.amazon.coral.service#UnrecognizedClientException`. */
function nameOf(stated: unknown): string | undefined {
  const [text] = [stated].flat();
  return textIn(text)?.split(':')[0]?.split('#').at(-1);
}
