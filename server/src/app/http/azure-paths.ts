import { isOpenAiPath } from '@tallygate/contract';
import { pathnameOf } from './target.ts';

const AZURE_PATH = /^\/openai\/(?:v1\/|deployments\/([^/]+)\/)?(.+)$/;

/** What a request asks for, by our own names. */
export interface AskedFor {
  readonly target: string;
  /** Of Azure's clients, who name the model in the path: it counts in place of the `model` of the body, as at Azure. */
  readonly deployment: string | undefined;
}

/**
 * OpenAI's operations by Azure's paths: `/openai/deployments/{deployment}/chat/completions?api-version=…`, `/openai/files?api-version=…` and
 * `/openai/v1/responses`. The version is passed over: there is one here. Any other target is as it was.
 *
 * @param target with every step of its path decodable
 */
export function withoutAzure(target: string): AskedFor {
  const asIs = { target, deployment: undefined };
  if (!target.startsWith('/openai/')) return asIs;
  const pathname = pathnameOf(target);
  const [, deployment, operation = ''] = AZURE_PATH.exec(pathname) ?? [];
  const path = `/v1/${operation}`;
  if (!isOpenAiPath(path)) return asIs;
  const parameters = target
    .slice(pathname.length + 1)
    .split('&')
    .filter((parameter) => parameter !== '' && !/^api-version(?:=|$)/.test(parameter));
  return {
    target: parameters.length === 0 ? path : `${path}?${parameters.join('&')}`,
    deployment: deployment === undefined ? undefined : decodeURIComponent(deployment),
  };
}
