// A browser for the page's tests: Debian's chromium, driven by playwright-core.
import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const build = process.env.SAMOVAR_BUILD ?? join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'build');
export const pictures = join(build, 'web-screenshots');

export const desktop = { width: 1440, height: 900 };
export const phone = { width: 360, height: 740 };

export function launch() {
  const args = ['--disable-gpu'];
  if (process.getuid?.() === 0) args.push('--no-sandbox'); // its sandbox does not work for root
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
}

/** A page that keeps what the browser complains about in `complaints`. */
export async function open(browser, url, { viewport = desktop, colours = 'light', hash = '', expect = [] } = {}) {
  const context = await browser.newContext({ viewport, colorScheme: colours, reducedMotion: 'reduce', locale: 'en-GB' });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.complaints = [];
  const complain = (text) => {
    if (!expect.some((pattern) => pattern.test(text))) page.complaints.push(text);
  };
  page.on('pageerror', (error) => complain(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complain(message.text());
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) complain(`asks elsewhere: ${request.url()}`);
  });
  await page.addInitScript(() => {
    window.violations = [];
    addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));
  });
  await page.goto(url + hash);
  return page;
}

/** Ends a page; the browser must have had nothing to complain about, the policy least of all. */
export async function close(page) {
  const violations = await page.evaluate(() => window.violations);
  await page.context().close();
  assert.deepEqual({ violations, complaints: page.complaints }, { violations: [], complaints: [] });
}

export async function picture(page, name, fullPage = false) {
  await mkdir(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage });
}

/** Nothing may stick out at the side. */
export async function fits(page) {
  const [wide, room] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  assert.ok(wide <= room, `the page is ${wide} wide on a screen of ${room}`);
}

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds that is serious or worse. */
export async function barriers(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await window.axe.run(document)).violations);
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`);
}
