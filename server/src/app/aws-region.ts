/** In the order of AWS's own libraries. */
export const regionIn = (env: Readonly<Record<string, string | undefined>>): string | undefined =>
  env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'];
export const isRegion = (text: string): boolean => /^[a-z]{2}(-[a-z]+)+-\d$/.test(text);
export const REGION = 'Expected a region of AWS such as `eu-central-1`';
export const bedrockAddress = (region: string): string =>
  `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
