import { betasIn } from '../../anthropic/betas.ts';
import { traitsOf } from '../../anthropic/model-traits.ts';

/**
 * The betas that Bedrock documents (https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html).
 * It answers 400 ("invalid beta flag") to any other, and clients of Anthropic send several with every request.
 */
const DOCUMENTED = new Set([
  ...['computer-use-2024-10-22', 'computer-use-2025-01-24', 'computer-use-2025-11-24', 'token-efficient-tools-2025-02-19'],
  ...['interleaved-thinking-2025-05-14', 'output-128k-2025-02-19', 'dev-full-thinking-2025-05-14', 'context-1m-2025-08-07'],
  ...['context-management-2025-06-27', 'effort-2025-11-24', 'tool-search-tool-2025-10-19', 'tool-examples-2025-10-29'],
  ...['fine-grained-tool-streaming-2025-05-14', 'compact-2026-01-12'],
]);
/** Models since Opus 4.7 have the rest of them without a beta, and refuse its name. */
const OF_NEWER_MODELS = new Set(['computer-use-2025-11-24', 'interleaved-thinking-2025-05-14']);

/** `anthropic-beta` as Bedrock takes it, in the body. */
export function betasOf(header: string | undefined, model: string): { anthropic_beta?: readonly string[] } {
  const taken = traitsOf(model).samplingFields === 0 ? OF_NEWER_MODELS : DOCUMENTED;
  const known = betasIn(header).filter((beta) => taken.has(beta));
  return known.length === 0 ? {} : { anthropic_beta: known };
}
