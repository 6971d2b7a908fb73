// Coding agents, headless, against a server whose model is scripted: each reads a file, corrects it,
// runs it and says so; is interrupted in the middle of a long reply; and answers a follow-up in the
// same session. Then says what each request cost, and fails if an agent did not do its task.
//
//   node run.mjs FOLDER [AGENT...]   FOLDER has the agents' programs in node_modules/.bin;
//                                    AGENT.json there gets requests, explanations and outputs
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, longText, reply } from '../sdk/script.mjs';
import { Server } from '../sdk/server.mjs';
import { table } from './table.mjs';

const running = new Set(); // process groups to end with us
for (const name of ['SIGINT', 'SIGTERM']) {
  process.once(name, () => {
    for (const end of running) end();
    process.exit(1);
  });
}

const model = 'samovar';
const taskPrompt = 'Please repair the greeting in greet.sh, then run it.';
const longPrompt = 'Now tell me everything about greetings, at length.';
const lastPrompt = 'Stop that. What did you change before?';
const runSeconds = 180;

function rules(agent, place) {
  const { read, edit, run } = agent.tools(place);
  const step = (number, think, [tool, args]) => ({
    user: taskPrompt,
    step: number,
    reply: reply({ think, text: `Step ${number + 1}.`, calls: [call(tool, args)] }),
  });
  return [
    ...agent.sideRules,
    step(0, 'I should look at the file first.', read),
    step(1, 'It says Helo; it should say Hello.', edit),
    step(2, 'Now I try it.', run),
    {
      user: taskPrompt,
      step: 3,
      reply: reply({ think: 'It works.', text: 'DONE: the greeting says Hello now.' }),
    },
    // Before the long one: some agents send the question that was interrupted together with the next.
    { user: lastPrompt, reply: reply({ think: 'One word.', text: 'ANSWER: Helo became Hello.' }) },
    { user: longPrompt, reply: reply({ think: 'A long story.', text: longText(6000) }) },
    { reply: reply({ text: 'Greeting' }) }, // requests beside the conversation, for titles and the like
  ];
}

// Runs the agent until it ends, or until `until` says so: then it is interrupted as by Ctrl-C.
async function runAgent(agent, folder, place, words, until) {
  const env = {
    PATH: `${join(folder, 'node_modules', '.bin')}:${process.env.PATH}`,
    HOME: place.home,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    CI: '1',
    NO_COLOR: '1',
    XDG_CONFIG_HOME: join(place.home, 'config'),
    XDG_DATA_HOME: join(place.home, 'data'),
    XDG_STATE_HOME: join(place.home, 'state'),
    XDG_CACHE_HOME: join(place.home, 'cache'),
    TMPDIR: place.tmp,
    ...place.env,
  };
  const child = spawn(agent.program, words, {
    cwd: place.project,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  child.stdout.on('data', (bytes) => {
    output += bytes;
  });
  child.stderr.on('data', (bytes) => {
    output += bytes;
  });
  const signal = (name) => {
    try {
      process.kill(-child.pid, name);
    } catch {
      /* it has ended */
    }
  };
  const end = () => signal('SIGKILL');
  running.add(end);
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(String(error)));
    child.once('close', (code, name) => resolve(name ?? code));
  });
  const guard = setTimeout(end, 1000 * runSeconds);
  let interrupted = false;
  if (until) {
    interrupted = await Promise.race([until(), ended.then(() => false)]);
    if (interrupted) process.kill(child.pid, 'SIGINT');
  }
  const late = setTimeout(end, until ? 20000 : 1000 * runSeconds);
  const outcome = await ended;
  clearTimeout(guard);
  clearTimeout(late);
  running.delete(end);
  return { outcome, output, interrupted };
}

// Until the newest turn has said some of a long reply.
const inMidReply = (server) => async () => {
  for (let i = 0; i < 10 * runSeconds; ++i) {
    const [turn] = await server.turns(1);
    if (turn?.status === 'running' && turn.usage.completion_tokens > 200) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
};

// All turns, oldest first, with requests and explanations.
async function turnsOf(server) {
  const turns = [];
  for (const { id } of (await server.turns(200)).reverse()) {
    const get = async (path) => (await fetch(`${server.url}/v1/samovar/turns/${id}${path}`)).json();
    const turn = await get('');
    turns.push({ ...turn, miss: turn.miss && (await get('/explain')) });
  }
  return turns;
}

async function makePlace() {
  const root = await mkdtemp(join(tmpdir(), 'samovar-agent-'));
  const place = {
    root,
    home: join(root, 'home'),
    project: join(root, 'project'),
    tmp: join(root, 'tmp'),
  };
  for (const folder of [place.home, place.project, place.tmp]) await mkdir(folder);
  place.file = join(place.project, 'greet.sh');
  await writeFile(place.file, 'name="${1:-world}"\necho "Helo, $name"\n');
  return place;
}

async function tryAgent(agent, folder) {
  const place = await makePlace();
  const server = await Server.start({
    rules: rules(agent, place),
    options: ['-c', '262144', '--alias', model, '--ledger-text'],
  });
  const problems = [];
  const outputs = [];
  const run = async (prompt, follow, until) => {
    const result = await runAgent(
      agent,
      folder,
      place,
      agent.command(prompt, follow, { model }),
      until,
    );
    outputs.push(`$ ${agent.program}: ${prompt}\n${result.output}\n(ended: ${result.outcome})`);
    await server.idle();
    return result;
  };
  place.env = await agent.prepare({ ...place, url: server.url, model });
  const first = await run(taskPrompt, false);
  if (!first.output.includes('DONE')) problems.push('the task was not completed');
  if (!(await readFile(place.file, 'utf8')).includes('Hello'))
    problems.push('the file was not changed');
  if (problems.length === 0) {
    const second = await run(longPrompt, true, inMidReply(server));
    if (!second.interrupted) problems.push('there was no long reply to interrupt');
    const third = await run(lastPrompt, true);
    if (!third.output.includes('ANSWER')) problems.push('the follow-up was not answered');
  }
  const turns = await turnsOf(server);
  const { output } = server;
  await server.stop();
  await rm(place.root, { recursive: true, force: true });
  return { agent: { ...agent }, problems, turns, outputs, server: output };
}

const [folder, ...names] = process.argv.slice(2);
let failed = false;
for (const file of names.length > 0 ? names : ['opencode', 'qwen', 'pi', 'claude', 'codex']) {
  const result = await tryAgent(await import(`./${file}.mjs`), folder);
  console.log(table(result));
  await writeFile(join(folder, `${file}.json`), JSON.stringify(result, null, 1));
  if (result.problems.length === 0) continue;
  failed = true;
  console.log(`\n${result.agent.name}: ${result.problems.join('; ')}`);
  console.log(`${result.outputs.join('\n')}\n--- server\n${result.server}`);
}
process.exit(failed ? 1 : 0);
