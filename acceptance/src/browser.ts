import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/opt/google/chrome/chrome'];

/** Where a Chromium is, should there be one: `CHROMIUM`, or where distributions put it. */
export const chromiumPath = (): string | undefined => [process.env['CHROMIUM'] ?? '', ...PLACES].find((path) => existsSync(path));

/** A browser without a window, of the machine: nothing is downloaded. */
export const openBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
