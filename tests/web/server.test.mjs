// The page as the real server gives it, in a real browser, while turns of a tiny model run.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Server } from '../sdk/server.mjs';
import { barriers, close, fits, launch, open, phone, picture } from './browser.mjs';

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

/** A prompt whose beginning is a clock: the next one misses from there on. */
function messages(minute, question) {
  const rules = Array.from({ length: 60 }, (_, i) => `Rule ${i}: read a file before you change it, and say what you did.`);
  return [
    { role: 'system', content: `Current time: Monday, 30 November 2026, 07:${minute}.\n${rules.join('\n')}` },
    { role: 'user', content: question },
  ];
}

async function ask(server, session, list, { key, tokens = 32 } = {}) {
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
    body: JSON.stringify({ messages: list, max_tokens: tokens, ignore_eos: true, temperature: 0, prompt_cache_key: session }),
  });
  assert.equal(response.status, 200, await response.clone().text());
  return response.json();
}

const region = (page, name) => page.getByRole('region', { name, exact: true });
const live = (page) => page.getByRole('banner').getByText('live', { exact: true }).waitFor();

/** Runs `body` with a server, and a page on it. */
function onServer(name, options, body) {
  test(name, async () => {
    const server = await Server.start({ options: options.flags ?? [] });
    try {
      const page = await open(browser, `${server.url}/`, options);
      await body(page, server);
      await close(page);
    } finally {
      await server.stop();
    }
  });
}

const hostile = '<img src=x onerror="window.hurt=1">';

onServer('turns show up by themselves, and a miss is explained', {}, async (page, server) => {
  await live(page);
  await page.getByText('No turn has ended yet.').waitFor();
  await page.getByText('the server was started with --no-store').waitFor();

  await ask(server, hostile, messages('12', 'Where does the parser lose values?'));
  const rows = region(page, 'Turns').locator('tbody tr');
  await rows.first().waitFor();
  await ask(server, hostile, messages('14', 'Where does the parser lose values?'));
  const why = rows.first().getByRole('button', { name: /^time_or_date: A time or date/ });
  await why.waitFor();
  assert.equal(await rows.count(), 2);

  await region(page, 'Prefixes').getByRole('treeitem').first().waitFor();
  await region(page, 'Sessions').getByRole('button', { name: hostile }).waitFor();
  assert.equal(await page.locator('img').count(), 0);
  assert.notEqual(await page.getByRole('meter', { name: 'K/V cells' }).getAttribute('aria-valuenow'), '0');
  await region(page, 'Decode rate against context').getByRole('img').waitFor();
  assert.deepEqual(await barriers(page), []);
  await picture(page, 'server-light', true);

  await why.click();
  const sheet = page.getByRole('dialog', { name: 'Why this turn missed' });
  await sheet.getByText('Remedy').waitFor();
  await sheet.getByText(/tokens.*computed again/s).first().waitFor();
  await sheet.getByText('As JSON').click();
  await sheet.getByText('"object": "samovar.turn"').waitFor();
  await page.keyboard.press('Escape');
  await page.setViewportSize(phone);
  await fits(page);
});

onServer('a turn is seen while it runs', {}, async (page, server) => {
  await live(page);
  const reply = ask(server, 'long', messages('12', 'Tell me everything.'), { tokens: 4000 });
  const now = region(page, 'Now');
  await now.getByRole('button', { name: 'long' }).waitFor();
  await now.getByText(/tokens of reply/).waitFor();
  await picture(page, 'server-now-light');
  const { id } = await reply;
  await now.getByText('Nothing runs.').waitFor();
  await page.goto(`${server.url}/#turn=${encodeURIComponent(id)}`);
  await page.getByRole('dialog').getByText(id).waitFor();
});

test('what is written to disk comes into the tree', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'samovar-page-'));
  const server = await Server.start({ options: ['--store-dir', folder] });
  try {
    const page = await open(browser, `${server.url}/`);
    await live(page);
    await ask(server, 'kept', messages('12', 'Where does the parser lose values?'));
    const tree = region(page, 'Prefixes');
    await tree.getByText(/^checkpoint: /).first().waitFor();
    await tree.getByText('leaves disk next').first().waitFor();
    await page.getByRole('meter', { name: 'On disk' }).waitFor();
    await picture(page, 'server-store-light', true);
    await close(page);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
});

const keyed = { flags: ['--api-key', 'sesame'], expect: [/401 \(Unauthorized\)/], colours: 'dark' };
onServer('with a key: the page comes without, its data do not', keyed, async (page, server) => {
  const state = await fetch(`${server.url}/v1/samovar/state`);
  assert.equal(state.status, 401);
  await page.getByLabel('API key').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('The server refused that key.').waitFor();
  await page.getByLabel('API key').fill('sesame');
  await page.keyboard.press('Enter');
  await live(page);
  await ask(server, 'mine', messages('12', 'Hello'), { key: 'sesame' });
  await region(page, 'Turns').locator('tbody tr').first().waitFor();
  assert.deepEqual(await barriers(page), []);
  await picture(page, 'server-dark', true);
});

test('the page comes with a policy that lets a browser load nothing else', async () => {
  const server = await Server.start();
  try {
    const page = await fetch(`${server.url}/`);
    assert.match(page.headers.get('content-type'), /^text\/html/);
    const policy = page.headers.get('content-security-policy');
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    for (const name of ['assets/page.js', 'assets/page.css']) {
      const part = await fetch(`${server.url}/${name}`);
      assert.equal(part.status, 200, name);
      const tag = part.headers.get('etag');
      const again = await fetch(`${server.url}/${name}`, { headers: { 'if-none-match': tag } });
      assert.equal(again.status, 304, name);
    }
  } finally {
    await server.stop();
  }
});
