package sqlite

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// planned lists the statements on the paths of reads, writes and turns. Each must find its rows through keys, whatever
// the size of the tables, and return them in order without sorting.
func planned() []struct{ name, sql string } {
	heads, _ := filtered(sqlHeads, sessile.SlotFilter{}, nil)
	oneHead, _ := filtered(sqlHeads, sessile.SlotFilter{Namespace: "n", Slot: "s"}, nil)
	plainHeads, _ := filtered(sqlPlainHeads, sessile.SlotFilter{}, nil)
	versions, _ := filtered(sqlVersions, sessile.SlotFilter{}, nil)
	plain, _ := filtered(sqlPlainVersions, sessile.SlotFilter{}, nil)
	statements := []struct{ name, sql string }{
		{"session", sqlSession},
		{"session by row", sqlSessionByRow},
		{"sessions, newest first", sqlSessions + " ORDER BY s.created_at DESC, s.id DESC LIMIT ?5 OFFSET ?6"},
		{"session by key", sqlSessionByKey},
		{"branch", sqlBranch},
		{"floor", sqlFloor},
		{"floor by row", sqlFloorByRow},
		{"latest floor", sqlLatestFloor},
		{"latest committed floor", sqlLatestCommittedFloor},
		{"snapshot floor of a branch", sqlHasSnapshotFloor},
		{"generating floor", sqlGeneratingFloor},
		{"floors of a branch", sqlBranchFloors},
		{"floor number taken", sqlFloorNumberTaken},
		{"api key", sqlAPIKey},
		{"pages", sqlPages},
		{"page messages", sqlPageMessages},
		{"message", sqlMessage},
		{"story", sqlStory},
		{"running run", sqlRunningRun},
		{"running runs of a session", sqlRunningRuns},
		{"run of a floor", sqlFloorRun},
		{"run", sqlRun},
		{"runs of a session", sqlRunsOf},
		{"runs for a session", sqlRunsFor},
		{"step of a run", sqlStepRun},
		{"place of a run", sqlRunPlace},
		{"startable runs", sqlStartableRuns},
		{"all running runs", sqlAllRunningRuns},
		{"queued runs", sqlQueuedRuns},
		{"due runs", sqlDueRuns},
		{"next due run", sqlNextDue},
		{"open runs", sqlOpenRuns},
		{"open run", sqlOpenRun},
		{"undelivered runs", sqlUndeliveredRuns},
		{"deliveries", sqlDeliveries},
		{"deliveries of a session", sqlDeliveriesOf},
		{"delivery by key", sqlDeliveryNamed},
		{"due deliveries", sqlDueDeliveries},
		{"next delivery", sqlNextDelivery},
		{"namespace", sqlNamespace},
		{"namespaces", sqlNamespaces},
		{"slots", sqlSlots},
		{"locate", sqlLocate},
		{"head", sqlHead},
		{"heads", heads},
		{"heads without exceptions", plainHeads},
		{"one head", oneHead},
		{"versions at a point", versions},
		{"versions at a point without exceptions", plain},
		{"exceptions", sqlHasOverrides},
		{"references at a point", sqlVersionRefs},
		{"lay base", sqlLayBase},
		{"lay base without exceptions", sqlLayPlainBase},
		{"lay base of a new branch", sqlLayFirstBase},
		{"pointers of a branch", sqlHasPointers},
		{"overrides", sqlOverrides},
		{"shown", sqlShown},
		{"is head", sqlIsHead},
		{"mutation", sqlMutation},
		{"mutations of a floor", sqlFloorMutations},
		{"page by row", sqlPageByRow},
		{"append", sqlAppend},
		{"move head", sqlMoveHead},
		{"materialise", sqlMaterialise},
		{"namespace usage", sqlMoveNamespace},
		{"account usage", sqlMoveAccount},
		{"save sequence", sqlSaveSeq},
		{"commit floor", sqlCommitFloor},
		{"deleted session", sqlDeletedSession},
		{"home", sqlHome},
		{"keys of a home", sqlHomeKeys},
		{"entry", sqlEntry},
		{"entries", sqlEntries},
		{"put entry", sqlPutEntry},
		{"value of an entry", sqlDropEntryValue},
		{"delete entry", sqlDeleteEntry},
		{"clear entries", sqlClearEntries},
		{"next expiry", sqlNextExpiry},
		{"expired entries", sqlExpiredEntries},
		{"deleted home", sqlDeletedHome},
		{"entries of a home", sqlHomeEntries},
		{"extension", sqlExtensionAt},
		{"inherited extension", sqlExtensionBase},
		{"extension that a floor shows", sqlExtensionShown},
		{"hidden extensions", sqlHiddenExtensions},
		{"remove extension", sqlRemoveExtension},
		{"value of an extension", sqlDropExtensionValue},
		{"extensions of a branch", sqlBranchExtensions},
		{"lay extensions", sqlLayExtensions},
		{"purge values of extensions", sqlPurgeExtensions[0]},
		{"purge extensions", sqlPurgeExtensions[1]},
		{"found sessions", sqlFoundSessions},
		{"children", sqlChildren},
		{"pinned children", sqlPinnedChildren},
		{"open children", sqlOpenChildren},
		{"last run of a session", sqlLastRun},
		{"retired session", sqlRetiredSession},
		{"events", sqlEvents},
		{"event by its dedupe key", sqlEventNamed},
		{"head of events", sqlEventHead},
		{"state versions", sqlStateVersions},
		{"watch", sqlWatch},
		{"watches", sqlWatches},
		{"watchers", sqlWatchersOf},
		{"notices", sqlNotices},
		{"delete notice", sqlDeleteNotice},
		{"outdated events", sqlOutdated},
	}
	for _, w := range []walk{
		{column: "lane"},
		{column: "agent", lane: sessile.LaneCron},
		{column: "name"},
		{column: "label"},
		{column: "key"},
		{column: "spawned_by"},
		{column: "parent_key"},
		{column: "owner_key"},
	} {
		for stretch, pinned := range map[string]bool{"pinned": true, "rest": false} {
			statements = append(statements, struct{ name, sql string }{"sessions by " + w.column + ", " + stretch, w.sql(pinned, 0)})
		}
	}
	slices.SortStableFunc(statements[len(statements)-16:], func(a, b struct{ name, sql string }) int { return strings.Compare(a.name, b.name) })
	return statements
}

// sorted names the statements that may sort: they answer a handful of rows of one floor or one conversation, or of the
// sessions that are tied to one.
var sorted = map[string]bool{"pages": true, "story": true, "found sessions": true, "children": true, "pinned children": true, "notices": true, "all running runs": true}

// small names what may be read whole: results of a part of the same statement, and an index that is empty unless
// something was deleted.
var small = map[string]bool{
	"SCAN CONSTANT ROW":                               true,
	"SCAN l":                                          true, // the line of a story
	"SCAN shown":                                      true, // what a fork inherits
	"SCAN q USING INDEX run_queued":                   true, // queued runs, whatever their branch
	"SCAN r USING INDEX run_lease":                    true, // running runs
	"SCAN f VIRTUAL TABLE INDEX 0:M1":                 true, // what the search index finds
	"SCAN k VIRTUAL TABLE INDEX 1:":                   true, // the keys that were asked for
	"SCAN session USING INDEX session_purge":          true,
	"SCAN session USING COVERING INDEX session_purge": true,
}

func TestHotStatementsFindTheirRowsByKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	store, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	conn, err := sqliteconn.Open(path, sqliteconn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var out bytes.Buffer
	for _, s := range planned() {
		fmt.Fprintf(&out, "-- %s\n", s.name)
		for _, line := range plan(t, conn, s.sql) {
			fmt.Fprintf(&out, "%s\n", line)
			step := strings.TrimSpace(line)
			if strings.HasPrefix(step, "SCAN ") && !small[step] {
				t.Errorf("%s reads a whole table: %s", s.name, step)
			}
			if strings.Contains(step, "TEMP B-TREE") && !sorted[s.name] {
				t.Errorf("%s sorts: %s", s.name, step)
			}
		}
	}
	golden := filepath.Join("testdata", "plans.txt")
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("the query plans changed (-want +got); look at them, then run the test with -update:\n%s", diff)
	}
}

// plan lists the steps of a statement's query plan, indented by their depth.
func plan(t *testing.T, conn *sqliteconn.Conn, sql string) []string {
	t.Helper()
	var lines []string
	depth := map[int64]int{0: 0}
	rows := conn.Query("EXPLAIN QUERY PLAN " + sql)
	for rows.Next() {
		d := depth[rows.Int64(1)] + 1
		depth[rows.Int64(0)] = d
		lines = append(lines, strings.Repeat("  ", d)+rows.Text(3))
	}
	if err := rows.Close(); err != nil {
		t.Fatalf("%v in %s", err, sql)
	}
	return lines
}

func TestSynchronousIsFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	store, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	level := int64(-1)
	if _, err := store.writer.conn.One("PRAGMA synchronous", func(r *sqliteconn.Rows) { level = r.Int64(0) }); err != nil {
		t.Fatal(err)
	}
	if level != 2 {
		t.Errorf("the writer has synchronous=%d, want 2 (FULL)", level)
	}
}
