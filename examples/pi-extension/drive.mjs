// Drives a real Pi with the extension beside this file, against a model that is made up here, and checks what it does.
//
//   node drive.mjs PI SESSILE
//
// PI is dist/cli.js of the package @earendil-works/pi-coding-agent, SESSILE the binary. It needs a Node.js that Pi runs on.
// The last line counts what passed.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const [pi, sessile] = process.argv.slice(2).map((path) => resolve(path));
const extension = join(dirname(fileURLToPath(import.meta.url)), "goal.ts");

const root = realpathSync(mkdtempSync(join(tmpdir(), "pi-extension-")));
const agentDir = join(root, "agent");
const project = join(root, "project");
mkdirSync(agentDir);
mkdirSync(project);

// The model: it answers "ok", and remembers what it was asked.
const requests = [];
const model = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    requests.push(body);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = (fields) =>
      response.write(`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 0, model: "made-up", ...fields })}\n\n`);
    chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "ok" }, finish_reason: null }] });
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
    chunk({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } });
    response.end("data: [DONE]\n\n");
  });
});
await new Promise((done) => model.listen(0, "127.0.0.1", done));
writeFileSync(
  join(agentDir, "models.json"),
  JSON.stringify({
    providers: {
      local: {
        baseUrl: `http://127.0.0.1:${model.address().port}/v1`,
        apiKey: "none",
        api: "openai-completions",
        models: [{ id: "made-up", contextWindow: 100000, maxTokens: 1000 }],
      },
    },
  }),
);

// Only extensions can move in the tree.
const mover = join(root, "mover.ts");
writeFileSync(
  mover,
  `export default (pi) =>
    pi.registerCommand("goto", {
      handler: async (args, ctx) => {
        await ctx.navigateTree(args.trim(), { summarize: false });
        ctx.ui.notify("there", "info");
      },
    });`,
);

const env = {
  PATH: process.env.PATH,
  HOME: root,
  PI_CODING_AGENT_DIR: agentDir,
  PI_OFFLINE: "1",
  PI_TELEMETRY: "0",
  PI_SKIP_VERSION_CHECK: "1",
  SESSILE_BIN: sessile,
};

// A Pi in RPC mode. Lines of its output wake whoever waits for them.
class Pi {
  lines = [];
  waiting = [];
  next = 0;

  constructor(...args) {
    this.child = spawn(
      process.execPath,
      [pi, "--mode", "rpc", "--offline", "--provider", "local", "--model", "made-up", "-ne", "-e", extension, "-e", mover, ...args],
      { cwd: project, env, stdio: ["pipe", "pipe", "inherit"] },
    );
    this.ended = new Promise((done) => this.child.on("exit", done));
    createInterface({ input: this.child.stdout }).on("line", (line) => {
      this.lines.push(JSON.parse(line));
      this.waiting = this.waiting.filter((look) => !look());
    });
  }

  // The first line from position `from` on that fits, as soon as it is there.
  wait(what, fits, from) {
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`waited in vain for ${what}; came ${JSON.stringify(this.lines.slice(from))}`)), 30_000);
      const look = () => {
        const line = this.lines.slice(from).find(fits);
        if (line) {
          clearTimeout(timer);
          done(line);
        }
        return line !== undefined;
      };
      if (!look()) this.waiting.push(look);
    });
  }

  async ask(type, fields = {}) {
    const id = `q${this.next++}`;
    const from = this.lines.length;
    this.child.stdin.write(`${JSON.stringify({ id, type, ...fields })}\n`);
    const answer = await this.wait(type, (line) => line.type === "response" && line.id === id, from);
    assert.equal(answer.success, true, JSON.stringify(answer));
    return answer.data;
  }

  // Has the model say something, and returns what it was asked.
  async say(message) {
    const from = this.lines.length;
    await this.ask("prompt", { message });
    await this.wait("the end of the turn", (line) => line.type === "agent_settled", from);
    return requests.at(-1);
  }

  // Runs /goal and returns what it tells the user.
  goal(args = "") {
    return this.command(`/goal ${args}`.trim());
  }

  async command(message) {
    const from = this.lines.length;
    await this.ask("prompt", { message });
    const told = await this.wait("a notification", (line) => line.type === "extension_ui_request" && line.method === "notify", from);
    return told.message;
  }

  async end() {
    this.child.stdin.end();
    assert.equal(await this.ended, 0);
  }
}

const ext = (...args) => execFileSync(sessile, ["ext", ...args], { env, cwd: project, encoding: "utf8" });

let passed = 0;
const check = (name, got, want) => {
  if (want instanceof RegExp) assert.match(got, want, name);
  else assert.deepEqual(got, want, name);
  passed++;
  console.log(`ok   ${name}`);
};

let first = new Pi();
try {
  check("a new session has no goal", await first.goal(), "this branch has no goal");
  check("a goal, before there is a session file", await first.goal("cross the strait"), "goal: cross the strait");
  check("it is shown", await first.goal(), "goal: cross the strait");
  check("the model is told", await first.say("one"), /cross the strait/);
  await first.say("two");

  const { entries } = await first.ask("get_entries");
  const users = entries.filter((entry) => entry.type === "message" && entry.message.role === "user");
  const { sessionId, sessionFile } = await first.ask("get_state");

  check("the goal from outside", ext("get", "goal", "--branch", "--session", sessionId), '{"text":"cross the strait"}\n');
  check("explain says where Pi stands", ext("explain", "goal", "--branch"), /the last entry of the file/);
  check("a write from outside is seen inside", ext("set", "goal", '{"text":"stay ashore"}', "--branch", "--session", sessionFile), /in session/);
  check("at once", await first.goal(), "goal: stay ashore");

  // Going back and saying something else makes a branch, which inherits the goal until it has one of its own.
  const leaf = entries.at(-1).id;
  await first.command(`/goto ${users[1].id}`);
  check("the place it left from has the goal", await first.goal(), "goal: stay ashore");
  await first.say("something else");
  check("a branch inherits it", await first.goal(), /^goal: stay ashore \(inherited from [0-9a-f]{8}\)$/);
  check("and gets one of its own", await first.goal("swim"), "goal: swim");
  check("of which the model is told", await first.say("more"), /swim/);
  await first.command(`/goto ${leaf}`);
  check("the other branch keeps the old one", await first.goal(), /^goal: stay ashore/);
  check("from outside, both can be read", ext("get", "goal", "--branch", "--session", sessionId), '{"text":"swim"}\n');

  // /fork makes a new session, which has no state.
  await first.ask("fork", { entryId: users[1].id });
  const fork = await first.ask("get_state");
  assert.notEqual(fork.sessionId, sessionId);
  check("a forked session has no goal", await first.goal(), "this branch has no goal");
  check("so the model is told nothing", await first.say("three"), /^(?!.*stay ashore)/s);
  check("it gets one of its own", await first.goal("row"), "goal: row");
  check("the source keeps its own", ext("get", "goal", "--branch", "--session", sessionId, "--leaf", leaf), '{"text":"stay ashore"}\n');
  check("status counts both", ext("status"), /goal +2 +3 /);
  await first.end();

  first = new Pi("--session", sessionFile);
  check("a new process stands at the end of the file", await first.goal(), "goal: swim");
  check("the goal is dropped", await first.goal("-"), "goal dropped");
  check("so that the inherited one shows again", await first.goal(), /inherited/);
  await first.end();
  console.log(`${passed} passed, 0 failed, 0 skipped`);
} catch (error) {
  first.child.kill();
  console.log(`FAIL ${error.stack}`);
  console.log(`${passed} passed, 1 failed, 0 skipped`);
  process.exitCode = 1;
} finally {
  model.close();
  rmSync(root, { recursive: true, force: true });
}
