import type { ToolUsage } from '../../../money/catalog/index.ts';
import type { RunTools } from '../answer-form.ts';
import { isCount, isRecord, partIn } from '../usage.ts';
import { addedUsage, type HostedTools } from './declared-tools.ts';

type Json = Readonly<Record<string, unknown>>;

/** What was run, as far as an answer says it: by its items, one by one or all of them, and by its `tool_usage`, which wins. */
export class CountedTools {
  readonly #hosted: HostedTools;
  /** By id, or by its place where it has none: an item may be told more than once. */
  readonly #items = new Map<unknown, Json>();
  #told: unknown;

  constructor(hosted: HostedTools) {
    this.#hosted = hosted;
  }

  add(item: unknown, place: unknown): void {
    if (isRecord(item) && CALLS.has(String(item['type']))) this.#items.set(item['id'] ?? place, item);
  }

  addResponse({ output, tool_usage: told }: Json): this {
    if (Array.isArray(output)) for (const [index, item] of output.entries()) this.add(item, index);
    if (isRecord(told)) this.#told = told;
    return this;
  }

  get run(): RunTools {
    return { calls: this.#items.size, usage: this.#usage() };
  }

  /** A container is charged where it is declared: it is made for the request, called or not. */
  #usage(): ToolUsage {
    const { containers, containerGigabytes, most } = this.#hosted;
    const sessions = Math.max(containers, new Set(this.#ofType('code_interpreter_call', 'shell_call').flatMap(containersOf)).size);
    const search = most.web_search_previews === undefined ? 'web_searches' : 'web_search_previews';
    return addedUsage(
      {
        [search]: requestsIn(this.#told) ?? this.#ofType('web_search_call').filter(isSearch).length,
        file_searches: this.#ofType('file_search_call').length,
        container_gigabytes: containers === 0 ? 0 : Math.ceil((containerGigabytes * sessions) / containers),
      },
      imageUsage(this.#told) ?? this.#imagesMade(),
    );
  }

  /** Where the provider does not say what its image tool took: what an image has, which the request decides. */
  #imagesMade(): ToolUsage {
    return { image_tool_image_output_tokens: this.#ofType('image_generation_call').length * this.#hosted.imageTokens };
  }

  #ofType(...types: readonly string[]): Json[] {
    return [...this.#items.values()].filter(({ type }) => types.includes(String(type)));
  }
}

/** Items of calls that the provider ran. */
const CALLS: ReadonlySet<string> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'shell_call',
  'image_generation_call',
  'mcp_call',
  'mcp_list_tools',
]);

/** Opening a page and looking into one are no searches. */
function isSearch({ action }: Json): boolean {
  return !isRecord(action) || action['type'] === undefined || action['type'] === 'search';
}

/** The container that ran it; none of a shell that the caller runs. */
function containersOf({ container_id: id, environment }: Json): string[] {
  const named = id ?? (isRecord(environment) ? environment['container_id'] : undefined);
  return typeof named === 'string' ? [named] : [];
}

function requestsIn(told: unknown): number | undefined {
  const search = isRecord(told) ? told['web_search'] : undefined;
  const requests = isRecord(search) ? search['num_requests'] : undefined;
  return isCount(requests) ? requests : undefined;
}

/** Where its parts are not told apart, what comes out is image. */
function imageUsage(told: unknown): ToolUsage | undefined {
  const image = isRecord(told) ? told['image_gen'] : undefined;
  if (!isRecord(image)) return undefined;
  const { input_tokens: input, output_tokens: output } = image;
  if (!isCount(input) || !isCount(output)) return undefined;
  const imageIn = partIn(image['input_tokens_details'], 'image_tokens', input) ?? 0;
  const textOut = partIn(image['output_tokens_details'], 'text_tokens', output) ?? 0;
  return {
    image_tool_text_input_tokens: input - imageIn,
    image_tool_image_input_tokens: imageIn,
    image_tool_text_output_tokens: textOut,
    image_tool_image_output_tokens: output - textOut,
  };
}
