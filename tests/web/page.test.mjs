// The page in a real browser, on a server whose data are known (mock.mjs).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { barriers, close, desktop, fits, launch, open, phone, picture } from './browser.mjs';
import { hostile } from './data.mjs';
import { Mock } from './mock.mjs';

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

/** Runs `body` with a page on a server of its own. */
function onPage(name, options, body) {
  test(name, async () => {
    const mock = await Mock.start(options.server);
    const page = await open(browser, mock.url, options);
    try {
      await body(page, mock);
      await close(page);
    } finally {
      await mock.stop();
    }
  });
}

const live = (page) => page.getByRole('banner').getByText('live', { exact: true }).waitFor();
const region = (page, name) => page.getByRole('region', { name, exact: true });
const rows = (page) => region(page, 'Turns').locator('tbody tr');
const items = (page) => page.getByRole('treeitem');
const focused = (page) => page.evaluate(() => document.activeElement?.textContent ?? '');

onPage('shows what runs, what ended, what is kept and what there is room for', {}, async (page) => {
  await live(page);
  await page.getByText('Qwen3.5-35B-A3B-Q4_K_M').waitFor();
  const now = region(page, 'Now');
  assert.equal(await now.locator('.turns > li').count(), 4);
  await now.getByText('3 of 3 running, 1 waiting').waitFor();
  await now.getByText('prompt at 20,992 of 48,012').waitFor();
  await now.getByText('bringing back 6,144 of 18,600 prompt tokens').waitFor();
  const restored = now.getByRole('progressbar', { name: 'Prompt of docs-review' });
  assert.equal(await restored.getAttribute('aria-valuetext'), '6,144 reused, 0 computed, of 18,600');
  assert.match(await restored.locator('.reused').getAttribute('style'), /width: 33\.03/);
  await now.getByRole('button', { name: 'time_or_date: 35,700 tokens again' }).waitFor();
  const bars = await now.getByRole('img').evaluateAll((all) => all.map((bar) => bar.getAttribute('aria-label')));
  assert.match(bars[1], /^render 31 ms, queue 1\.90 s, restore 640 ms, prefill \d+\.\d s$/);
  assert.equal(await rows(page).count(), 15);
  assert.equal(await items(page).count(), 8);
  const meter = page.getByRole('meter', { name: 'K/V cells' });
  assert.equal(await meter.getAttribute('aria-valuetext'), '118,310 of 131,072');
  await page.getByRole('meter', { name: 'On disk' }).waitFor();
  await page.getByText('leaves memory next').waitFor();
  await page.getByText('leaves disk next').waitFor();
  assert.match(await page.locator('#decode + *, .plot').last().getAttribute('aria-label'), /^Scatter of 38 turns/);
  await picture(page, 'desktop-light', true);
});

onPage('prefill and decode are never one figure', {}, async (page) => {
  await live(page);
  await rows(page).first().getByRole('button').click();
  const sheet = page.getByRole('dialog');
  const rates = await sheet.locator('dl div').filter({ hasText: 'tok/s' }).allTextContents();
  assert.deepEqual(
    rates.map((text) => text.trim().split(/\s+/)[0].replace(/[\d.,]+$/, '')),
    ['prefill', 'decode'],
  );
});

onPage('a name that a client chose is text, whatever is in it', {}, async (page) => {
  await live(page);
  const names = await page.getByText(hostile, { exact: true }).count();
  assert.ok(names >= 3, `${names} times`);
  assert.equal(await page.locator('img, b').count(), 0);
  assert.equal(await page.evaluate(() => window.hurt), undefined);
});

onPage('a bar grows between two messages, and a turn that ended moves down', {}, async (page, mock) => {
  await live(page);
  const now = region(page, 'Now');
  const age = now.locator('.age').nth(1);
  const first = await age.textContent();
  await page.waitForFunction((was) => document.querySelectorAll('.age')[1].textContent !== was, first);
  mock.send('turn', { ...mock.live[0], reply_tokens: 300 });
  await now.getByText('300 tokens of reply').waitFor();
  const ended = { ...mock.turns[1], id: mock.live[1].id, session: 'just-ended', ended: mock.now, created: mock.now };
  mock.end(ended);
  await rows(page).first().getByText('just-ended').waitFor();
  assert.equal(await now.locator('.turns > li').count(), 3);
  await page.getByRole('status').getByText('A turn of session just-ended missed').waitFor({ state: 'attached' });
});

onPage('an event may come in pieces', {}, async (page, mock) => {
  await live(page);
  await mock.dribble('turn', { ...mock.live[0], session: 'Zürich – 東京 🫖', reply_tokens: 512 });
  await region(page, 'Now').getByText('Zürich – 東京 🫖').waitFor();
  await region(page, 'Now').getByText('512 tokens of reply').waitFor();
});

onPage('many turns at once: a dozen first', {}, async (page, mock) => {
  await live(page);
  for (let i = 0; i < 40; ++i) mock.send('turn', { ...mock.live[2], id: `waits-${i}`, session: `waits-${i}` });
  const bars = region(page, 'Now').locator('.turns > li');
  await page.getByRole('button', { name: 'Show all 44' }).click();
  assert.equal(await bars.count(), 44);
});

onPage('one click from a miss to why, with the remedy', {}, async (page) => {
  await live(page);
  const button = rows(page).nth(1).getByRole('button');
  assert.match(await button.getAttribute('aria-label'), /^time_or_date: A time or date in the system prompt changed/);
  await button.click();
  const sheet = page.getByRole('dialog', { name: 'Why this turn missed' });
  await sheet.getByText('A time or date in the system prompt changed').waitFor();
  await sheet.getByText('Fix the time when the session starts').waitFor();
  await sheet.getByText('messages[0] (system), content, token 22').waitFor();
  await sheet.getByText(/5,678 tokens, 13\.2 s\s+computed again/).waitFor();
  assert.equal(await sheet.locator('del').textContent(), '2');
  assert.equal(await sheet.locator('ins').textContent(), '4');
  await sheet.getByText('As JSON').click();
  await sheet.getByText('"object": "samovar.turn"').waitFor();
  await sheet.getByText('As JSON').click();
  assert.deepEqual(await barriers(page), []);
  await picture(page, 'detail-light');
});

onPage('a slow turn that did not miss says which phase it waited for', {}, async (page) => {
  await live(page);
  await page.getByLabel('missed or slow only').check();
  await rows(page).getByRole('button', { name: /^slow: queue/ }).first().click();
  const sheet = page.getByRole('dialog', { name: 'Why this turn was slow' });
  await sheet.getByText('Most of the wait: queue, 14.2 s').waitFor();
});

onPage('a turn that was cut while it waited is slow, and no wait for a first token', {}, async (page, mock) => {
  await live(page);
  await page.getByLabel('missed or slow only').check();
  const row = rows(page).filter({ hasText: 'incomplete' }).filter({ hasText: 'slow: queue' });
  await row.getByRole('button').click();
  const sheet = page.getByRole('dialog', { name: 'Why this turn was slow' });
  await sheet.getByText(/Most of the wait: queue/).waitFor();
  await page.keyboard.press('Escape'); // goes back, which would cut off a reload that comes at once
  await sheet.waitFor({ state: 'detached' });
  const cut = (turn) => ({ ...turn, timings: { ...turn.timings, first_token_ms: 0 } });
  const wait = () => region(page, 'Turns').locator('dl.facts div').filter({ hasText: 'median wait' }).locator('dd');
  mock.turns = mock.turns.map((turn, i) => (i % 3 ? cut(turn) : { ...turn, timings: { ...turn.timings, first_token_ms: 1230 } }));
  await page.reload();
  await live(page);
  await wait().getByText('1.23 s').waitFor();
  mock.turns = mock.turns.map(cut);
  await page.reload();
  await live(page);
  await wait().getByText('–').waitFor();
});

onPage('the reply that a conversation left out is one click away', {}, async (page) => {
  await live(page);
  await page.getByLabel('missed or slow only').check();
  await rows(page).getByRole('button', { name: /^reply_missing: The reply before/ }).first().click();
  await page.getByRole('button', { name: 'show its turn' }).click();
  await page.getByRole('dialog').getByText('chatcmpl-0001').waitFor();
  await page.goBack();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

onPage('by the keyboard: skip link, a turn, Escape, and back to where it was', {}, async (page) => {
  await live(page);
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'Skip to the turns');
  const button = rows(page).nth(1).getByRole('button');
  await button.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('Remedy').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.textContent?.trim() === 'time_or_date');
  assert.equal(new URL(page.url()).hash, '');
});

onPage('by the keyboard: the tree', {}, async (page) => {
  await live(page);
  const first = items(page).first();
  await first.focus();
  assert.equal(await first.getAttribute('aria-expanded'), 'true');
  await page.keyboard.press('ArrowDown');
  assert.match(await focused(page), /11,264 – 58,880/);
  await page.keyboard.press('ArrowRight');
  assert.match(await focused(page), /58,880 – 64,481/);
  await page.keyboard.press('ArrowLeft');
  assert.match(await focused(page), /11,264 – 58,880/);
  await page.keyboard.press('ArrowLeft');
  assert.equal(await items(page).count(), 6);
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await items(page).count(), 3);
  await page.keyboard.press('*');
  assert.equal(await items(page).count(), 8);
  await page.keyboard.press('End');
  assert.match(await focused(page), /0 – 9,000/);
  assert.equal(await page.locator('[role=treeitem][tabindex="0"]').count(), 1);
  const levels = await items(page).evaluateAll((all) => all.map((item) => item.getAttribute('aria-level')));
  assert.deepEqual(levels, ['1', '2', '3', '3', '2', '3', '1', '1']);
});

onPage('a session lists its turns', {}, async (page) => {
  await live(page);
  await region(page, 'Sessions').getByRole('button', { name: 'docs-review' }).click();
  await page.getByRole('button', { name: /^session docs-review/ }).waitFor();
  const names = await rows(page).locator('.name').allTextContents();
  assert.ok(names.length > 0 && names.every((name) => name === 'docs-review'), names.join());
  await page.getByRole('button', { name: /^session docs-review/ }).click();
  assert.equal(await rows(page).count(), 15);
});

onPage('an empty server says what will appear, and how', { server: { empty: true } }, async (page) => {
  await live(page);
  await page.getByText('Nothing runs.').waitFor();
  await page.getByText(/^curl http:.*\/v1\/chat\/completions/).waitFor();
  await page.getByText('No turn has ended yet.').waitFor();
  await page.getByText('Nothing is kept.').waitFor();
  assert.deepEqual(await barriers(page), []);
  await picture(page, 'empty-light', true);
});

onPage('no store is said', { server: { store: false } }, async (page) => {
  await live(page);
  await page.getByText('the server was started with --no-store').waitFor();
});

onPage('a store in trouble is said', { server: { trouble: 'No space left on device' } }, async (page) => {
  await live(page);
  await page.getByText('The store does not write:').waitFor();
  await page.getByText(/No space left on device/).waitFor();
});

const refused = [/503 \(Service Unavailable\)/, /ERR_INCOMPLETE_CHUNKED_ENCODING/, /ERR_CONNECTION/];
onPage('a lost connection is said, tried again, and over', { expect: refused }, async (page, mock) => {
  await live(page);
  mock.drop();
  await page.getByRole('banner').getByText('reconnecting').waitFor();
  await page.getByText('16 clients listen already: close another page').waitFor();
  assert.equal(await rows(page).count(), 15, 'what is known stays');
  await page.getByText('What runs is not known without a connection.').waitFor();
  await picture(page, 'reconnecting-light');
  mock.accept();
  await page.getByRole('button', { name: 'Try now' }).click();
  await live(page);
  await page.getByRole('status').getByText('Connected again').waitFor({ state: 'attached' });
});

const missing = { hash: '#turn=gone', expect: [/404 \(Not Found\)/] };
onPage('an address of a turn that is gone says so', missing, async (page) => {
  await page.getByRole('dialog').getByText('there is no turn gone').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).hash, '');
});

const keyed = { server: { key: 'sesame' }, expect: [/401 \(Unauthorized\)/] };
onPage('asks for the key, and keeps it until the tab is closed', keyed, async (page) => {
  const field = page.getByLabel('API key');
  await field.waitFor();
  assert.deepEqual(await barriers(page), []);
  await picture(page, 'key-light');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'key');
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('The server refused that key.').waitFor();
  await field.fill('sesame');
  await page.keyboard.press('Enter');
  await live(page);
  assert.equal(await rows(page).count(), 15);
  await rows(page).nth(1).getByRole('button').click();
  await page.getByRole('dialog').getByText('Fix the time when the session starts').waitFor();
  assert.equal(await page.getByRole('link', { name: 'the turn', exact: true }).count(), 0, 'a link would not send the key');
  await page.reload();
  await live(page);
  assert.equal(await page.evaluate(() => localStorage.getItem('samovar-key')), null);
});

onPage('at phone width nothing sticks out', { viewport: phone, server: { nodes: 40 } }, async (page) => {
  await live(page);
  await rows(page).first().waitFor();
  await fits(page);
  const cells = rows(page).first().getByRole('cell');
  assert.equal(await cells.count(), await region(page, 'Turns').getByRole('columnheader').count(), 'still a table');
  await picture(page, 'phone-light', true);
  await page.getByText('As a table').click();
  await fits(page);
  await rows(page).nth(1).getByRole('button').click();
  await page.getByRole('dialog').getByText('Remedy').waitFor();
  await fits(page);
  const sheet = await page.locator('dialog').evaluate((d) => [d.scrollWidth, d.clientWidth, d.getBoundingClientRect().width]);
  assert.ok(sheet[0] <= sheet[1] && sheet[2] <= phone.width, sheet.join());
  await picture(page, 'phone-detail-light');
});

onPage('at every width the bars have room and nothing sticks out', {}, async (page) => {
  await live(page);
  for (const width of [420, 600, 820, 1024, 1200, 1350, 1440, 2200]) {
    await page.setViewportSize({ width, height: 900 });
    await fits(page);
    const bar = await rows(page).first().getByRole('img').evaluate((track) => track.getBoundingClientRect().width);
    assert.ok(bar > 100, `bars of ${bar} on a screen of ${width}`);
  }
  await page.setViewportSize({ width: 820, height: 1180 });
  await picture(page, 'tablet-light', true);
});

onPage('dark as the system, light by choice, and the choice stays', { colours: 'dark' }, async (page) => {
  await live(page);
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  assert.equal(await paper(), 'rgb(21, 19, 16)');
  assert.deepEqual(await barriers(page), []);
  await picture(page, 'desktop-dark', true);
  await page.getByRole('button', { name: 'Colours: system. Change' }).click();
  assert.equal(await paper(), 'rgb(247, 244, 239)');
  await page.reload();
  await live(page);
  assert.equal(await paper(), 'rgb(247, 244, 239)');
  await page.getByRole('button', { name: 'Colours: light. Change' }).click();
  assert.equal(await paper(), 'rgb(21, 19, 16)');
});

onPage('axe finds nothing serious in light colours and at phone width', {}, async (page) => {
  await live(page);
  await rows(page).first().waitFor();
  assert.deepEqual(await barriers(page), []);
  await page.setViewportSize(phone);
  assert.deepEqual(await barriers(page), []);
  await page.setViewportSize(desktop);
});

onPage('a thousand turns and hundreds of prefixes come in parts', { server: { turns: 1000, nodes: 400 } }, async (page) => {
  await live(page);
  assert.equal(await rows(page).count(), 15);
  const more = region(page, 'Turns').getByRole('button', { name: 'Show 50 more' });
  for (const count of [65, 115, 165]) {
    await more.click();
    await rows(page).nth(count - 1).waitFor();
    assert.equal(await rows(page).count(), count);
  }
  const ids = await page.evaluate(async () => (await (await fetch('v1/samovar/turns?limit=1000')).json()).data.length);
  assert.equal(ids, 1000);
  assert.equal(await items(page).count(), 40);
  await region(page, 'Prefixes').getByRole('button', { name: 'Show 100 more' }).click();
  assert.equal(await items(page).count(), 140);
});
