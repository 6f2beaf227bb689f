import type { PriceMeter } from '@tallygate/contract';
import { isRecord } from '../usage.ts';
import { type Unpriced, unpricedMember } from './field-rule.ts';
import { isNone } from './kept-files.ts';

/** What of the tools that the provider runs no price holds. */

type Tool = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isAny: Check = () => true;
const members = (names: string, others: Readonly<Record<string, Check>> = {}): Readonly<Record<string, Check>> => ({
  ...Object.fromEntries(names.split(' ').map((name) => [name, isAny])),
  ...others,
});

const WEB_SEARCH = members('type external_web_access filters search_context_size user_location search_content_types allowed_callers');
export const unpricedWebSearch = (tool: Tool, param: string): Unpriced | undefined => unpricedMember(tool, param, WEB_SEARCH);

/** OpenAI's most. */
export const MOST_FILE_RESULTS = 50;
const FILE_SEARCH = members('type vector_store_ids filters ranking_options allowed_callers', {
  max_num_results: (most) => typeof most === 'number' && most >= 1 && most <= MOST_FILE_RESULTS,
});
export const unpricedFileSearch = (tool: Tool, param: string): Unpriced | undefined => unpricedMember(tool, param, FILE_SEARCH);

const MCP = members(
  'type server_label server_url connector_id tunnel_id allowed_tools authorization headers require_approval server_description defer_loading ' +
    'allowed_callers',
);
export const unpricedMcp = (tool: Tool, param: string): Unpriced | undefined => unpricedMember(tool, param, MCP);

/** Memory of a container, in the words of OpenAI's document. */
export const CONTAINER_GIGABYTES: Readonly<Record<string, number>> = { '1g': 1, '4g': 4, '16g': 16, '64g': 64 };
const CONTAINER = members('type network_policy', {
  memory_limit: (limit) => typeof limit === 'string' && Object.hasOwn(CONTAINER_GIGABYTES, limit),
  file_ids: isNone,
  skills: isNone,
});

/** One that is made for the request: of any other nobody here knows the size. */
function unpricedContainer(container: unknown, param: string, type: string): Unpriced | undefined {
  if (container === undefined || container === null) return undefined;
  if (!isRecord(container) || container['type'] !== type) return { param, what: 'containers that are kept at the provider' };
  return unpricedMember(container, param, CONTAINER);
}

const INTERPRETER = members('type container allowed_callers');
export const unpricedInterpreter = (tool: Tool, param: string): Unpriced | undefined =>
  unpricedMember(tool, param, INTERPRETER) ?? unpricedContainer(tool['container'], `${param}.container`, 'auto');

const SHELL = members('type environment allowed_callers');
export const unpricedShell = (tool: Tool, param: string): Unpriced | undefined =>
  unpricedMember(tool, param, SHELL) ?? unpricedContainer(tool['environment'], `${param}.environment`, 'container_auto');

/** The one model of the image tool that its meters are the prices of. It is named to the provider, whose default may change. */
export const IMAGE_TOOL_MODEL = 'gpt-image-2';
export const IMAGE_TOOL_METERS: readonly PriceMeter[] = [
  'image_tool_text_input_tokens',
  'image_tool_image_input_tokens',
  'image_tool_text_output_tokens',
  'image_tool_image_output_tokens',
];
const IMAGE_TOOL = members('type action background input_fidelity moderation output_compression size allowed_callers', {
  model: (model) => model === IMAGE_TOOL_MODEL,
  output_format: (format) => format === 'png' || format === 'webp' || format === 'jpeg',
  quality: (quality) => typeof quality === 'string' && ['auto', 'low', 'medium', 'high'].includes(quality),
  partial_images: (count) => typeof count === 'number' && count >= 0 && count <= 3,
  input_image_mask: (mask) => isRecord(mask) && isNone(mask['file_id']),
});
export const unpricedImageTool = (tool: Tool, param: string): Unpriced | undefined => unpricedMember(tool, param, IMAGE_TOOL);
