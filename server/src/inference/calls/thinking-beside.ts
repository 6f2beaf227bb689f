import type { CatalogModel } from '../../money/catalog/index.ts';
import { isCount } from './usage.ts';

/**
 * What a model may think beside the bound on tokens out. Alibaba bills thought beside `max_tokens`, and bounds it by `thinking_budget`
 * (https://www.alibabacloud.com/help/en/model-studio/deep-thinking): so much is held, and sent. Some of its models cannot be kept from
 * thinking, so switching that off lowers nothing.
 * @param asked the caller's own budget, where it has one
 */
export const thinkingBeside = ({ thinkingTokens }: Pick<CatalogModel, 'thinkingTokens'>, asked?: unknown): number =>
  isCount(asked) && asked > 0 ? Math.min(asked, thinkingTokens) : thinkingTokens;
