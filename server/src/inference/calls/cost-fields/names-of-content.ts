/** `imageUrls` as `image_urls`. */
export const snakeCase = (name: string): string =>
  /^[a-z0-9_]*$/.test(name)
    ? name
    : name
        .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
        .replaceAll(/[^A-Za-z0-9]+/g, '_')
        .toLowerCase();

const CONTENT =
  /(?:^|_)(?:images?|videos?|audios?|pictures?|photos?|documents?|docs?|media|pdfs?|files?|attachments?|ur[il]s?|vector_stores?)(?:_?(?:ur[il]|id|data|path|base64|b64)s?)?$/;
/** Addresses of the caller, and what is said about an answer. */
const NO_CONTENT = /(?:^|_)(?:webhook|callback|redirect|base|api|proxy|site|app|avatar|icon|referr?er|output|response|return|include)_/;

/** Whether a name is one of images, recordings, documents, files or addresses: `images`, `audio_url`, `file_ids`. */
export function isContentName(name: string): boolean {
  if (name.length > 64) return false;
  const snake = snakeCase(name);
  return CONTENT.test(snake) && !NO_CONTENT.test(snake);
}
