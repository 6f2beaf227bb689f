import type { ResponseItem } from '@tallygate/contract';
import { COST_FIELDS } from '../cost-fields/cost-fields.ts';
import { type Unpriced, unpricedMember } from '../cost-fields/field-rule.ts';
import { unpricedInMessage } from '../cost-fields/message-members.ts';
import { RESPONSE_TOOLS, unpricedTool } from '../cost-fields/tool-rules.ts';

/** Items that make the provider run something. */
const STARTS: Readonly<Record<string, string>> = {
  compaction_trigger: 'compaction by the provider, which POST /v1/responses/compact replaces',
};

const isAny = (): boolean => true;
/** What it may change without another price. Its tools are looked at like all others, its reasoning like the request's own. */
const CONFIGURATION = {
  ...{ type: isAny, id: isAny, tools: isAny, instructions: isAny },
  reasoning: (value: unknown) => COST_FIELDS['/v1/responses']?.['reasoning']?.unpriced?.(value, 'reasoning') === undefined,
};

/** The first item that no price holds: some bring tools or files along, others approve or start what the provider runs. */
export function unpricedItem(items: readonly ResponseItem[]): Unpriced | undefined {
  for (const [index, item] of items.entries()) {
    const started = STARTS[item.type ?? 'message'];
    if (started) return { param: `input[${index}]`, what: started };
    const changed = item.type === 'configuration_update' ? unpricedMember(item, `input[${index}]`, CONFIGURATION) : undefined;
    if (changed) return changed;
    const found = unpricedTool(item['tools'], `input[${index}].tools`, RESPONSE_TOOLS) ?? unpricedInMessage(item, `input[${index}]`);
    if (found) return found;
  }
  return undefined;
}
