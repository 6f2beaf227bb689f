import type { ResponseItem } from '@tallygate/contract';
import type { Unpriced } from '../cost-fields/field-rule.ts';
import { unpricedInMessage } from '../cost-fields/message-members.ts';
import { RESPONSE_TOOLS, unpricedTool } from '../cost-fields/tool-rules.ts';

/** Items that make the provider run something. */
const STARTS: Readonly<Record<string, string>> = {
  mcp_approval_response: 'tools that the provider runs',
  compaction_trigger: 'compaction by the provider, which POST /v1/responses/compact replaces',
};

/** The first item that no price holds: some bring tools or files along, others approve or start what the provider runs. */
export function unpricedItem(items: readonly ResponseItem[]): Unpriced | undefined {
  for (const [index, item] of items.entries()) {
    const started = STARTS[item.type ?? 'message'];
    if (started) return { param: `input[${index}]`, what: started };
    const found = unpricedTool(item['tools'], `input[${index}].tools`, RESPONSE_TOOLS) ?? unpricedInMessage(item, `input[${index}]`);
    if (found) return found;
  }
  return undefined;
}
