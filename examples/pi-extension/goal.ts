// Keeps a goal for each branch of a Pi session, by the command line of Sessile:
//
//   /goal TEXT   sets the goal of the branch
//   /goal        shows it, and says where it comes from
//   /goal -      drops it
//
// While a branch has a goal, the model is told of it. A fork inherits the goal of the branch it left; going back in the tree
// brings the old one back. The README beside this file says more.
import { execFile } from "node:child_process";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

const PLUGIN = "goal";

// Where the binary is; as a rule it is in the PATH.
const SESSILE = process.env.SESSILE_BIN || "sessile";

// What `sessile ext explain --json` answers, as far as it is used here.
interface Explained {
  found: boolean;
  inherited: boolean;
  source: string;
  value?: { text: string };
}

// Runs `sessile ext …` on the branch where the user stands. The tree goes to standard input, since the session's file does not
// say where that is, and a new session has no file yet.
function sessile(ctx: ExtensionContext, command: string, ...args: string[]): Promise<string> {
  const session = ctx.sessionManager;
  const tree = {
    sessionId: session.getSessionId(),
    leafId: session.getLeafId() ?? null,
    entries: session.getEntries().map((entry) => ({ id: entry.id, parentId: entry.parentId ?? null })),
  };
  const trust = ctx.isProjectTrusted() ? ["--trust"] : [];
  return new Promise((resolve, reject) => {
    const child = execFile(
      SESSILE,
      ["ext", command, "--json", ...trust, "--branch", "--tree", "-", "--", PLUGIN, ...args],
      { cwd: ctx.cwd, timeout: 20_000, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => (error ? reject(new Error(stderr.trim() || error.message)) : resolve(stdout)),
    );
    child.stdin?.on("error", () => {}); // it ended early; the exit code says why
    child.stdin?.end(JSON.stringify(tree));
  });
}

// Explain reads without writing. There is no state file before the first value is written.
async function goalOf(ctx: ExtensionContext): Promise<Explained> {
  return JSON.parse(await sessile(ctx, "explain"));
}

export default function (pi: ExtensionAPI) {
  pi.registerCommand("goal", {
    description: "Set, show or drop (-) the goal of this branch",
    handler: async (args, ctx) => {
      const text = args.trim();
      try {
        if (text === "-") {
          await sessile(ctx, "drop");
          ctx.ui.notify("goal dropped", "info");
        } else if (text) {
          await sessile(ctx, "set", JSON.stringify({ text }));
          ctx.ui.notify(`goal: ${text}`, "info");
        } else {
          const goal = await goalOf(ctx);
          const from = goal.inherited ? ` (inherited from ${goal.source})` : "";
          ctx.ui.notify(goal.found ? `goal: ${goal.value?.text}${from}` : "this branch has no goal", "info");
        }
      } catch (error) {
        ctx.ui.notify(`goal: ${(error as Error).message}`, "error");
      }
    },
  });

  pi.on("before_agent_start", async (event, ctx) => {
    try {
      const goal = await goalOf(ctx);
      if (goal.found) event.systemPromptOptions.sections.goal = goal.value?.text ?? "";
    } catch (error) {
      ctx.ui.notify(`goal: ${(error as Error).message}`, "warning"); // a turn without its goal is better than none
    }
  });
}
