import type { Step } from '../step.ts';

/** Azure's gateway in front of the model: a code that is no type, and neither type nor param. */
export const refused = (status: number, code: string, message: string): Step => ({ status, body: { error: { code, message } } });

export const deploymentNotFound = (): Step =>
  refused(
    404,
    'DeploymentNotFound',
    'The API deployment for this resource does not exist. If you created it lately, please wait a moment.',
  );

export const rateLimited = (seconds: number): Step => ({
  ...refused(429, '429', `Requests have exceeded the call rate limit of your pricing tier. Please retry after ${seconds} seconds.`),
  headers: { 'retry-after': String(seconds), 'x-ratelimit-remaining-requests': '0' },
});

export const operationNotSupported = (): Step =>
  refused(400, 'OperationNotSupported', 'The chatCompletion operation does not work with the specified model.');

/** The prompt was blocked by the content filter. */
export const promptFiltered = (): Step => ({
  status: 400,
  body: {
    error: {
      message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status: 400,
      innererror: {
        code: 'ResponsibleAIPolicyViolation',
        content_filter_result: { hate: { filtered: true, severity: 'high' }, violence: { filtered: false, severity: 'safe' } },
      },
    },
  },
});
