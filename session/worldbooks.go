package session

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
)

// settingWorldbook is the setting that binds a worldbook. It is not stored with the others: deleting a worldbook unbinds it
// everywhere.
const settingWorldbook = "worldbook_profile_id"

// NewWorldbook describes a worldbook to keep. Book is its JSON text, EntryCount what reading it found.
type NewWorldbook struct {
	Name       string
	Book       []byte
	EntryCount int64
}

// CreateWorldbook keeps a worldbook as its first version (spec/governed-state.md, ruling 24).
func (s *Service) CreateWorldbook(ctx context.Context, account string, n NewWorldbook) (sessile.Worldbook, error) {
	w := sessile.Worldbook{
		ID: s.options.IDs.New(sessile.PrefixWorldbook), Account: account, Name: n.Name, Version: 1, Book: n.Book, EntryCount: n.EntryCount,
	}
	err := s.store.Update(ctx, func(tx sessile.Tx) error {
		w.CreatedAt, w.UpdatedAt = tx.Now(), tx.Now()
		return tx.AddWorldbook(&w)
	})
	return w, err
}

// Worldbook finds a worldbook with its book. Codes: not_found.
func (s *Service) Worldbook(ctx context.Context, account, id string) (w sessile.Worldbook, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		w, err = ownWorldbook(tx, account, id)
		return err
	})
	return w, err
}

// Worldbooks lists the account's worldbooks without their books.
func (s *Service) Worldbooks(ctx context.Context, account string, page sessile.Page) (worldbooks []sessile.Worldbook, total int, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		worldbooks, total, err = tx.Worldbooks(account, page)
		return err
	})
	return worldbooks, total, err
}

// ReplaceWorldbook gives a worldbook another name and book, as its next version. Codes: not_found.
func (s *Service) ReplaceWorldbook(ctx context.Context, account, id string, n NewWorldbook) (w sessile.Worldbook, err error) {
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		if w, err = ownWorldbook(tx, account, id); err != nil {
			return err
		}
		w.Name, w.Book, w.EntryCount, w.Version, w.UpdatedAt = n.Name, n.Book, n.EntryCount, w.Version+1, tx.Now()
		return tx.UpdateWorldbook(&w)
	})
	return w, err
}

// DeleteWorldbook removes a worldbook and unbinds it from the sessions that had it. Codes: not_found.
func (s *Service) DeleteWorldbook(ctx context.Context, account, id string) error {
	return s.store.Update(ctx, func(tx sessile.Tx) error {
		w, err := ownWorldbook(tx, account, id)
		if err != nil {
			return err
		}
		return tx.DeleteWorldbook(w.Row)
	})
}

func ownWorldbook(tx sessile.ReadTx, account, id string) (sessile.Worldbook, error) {
	w, found, err := tx.Worldbook(account, id)
	if err == nil && !found {
		err = sessile.NotFound()
	}
	return w, err
}

// bindWorldbook carries out what the settings say about a worldbook, and takes it out of them.
func bindWorldbook(tx sessile.ReadTx, row *sessile.Session, settings map[string]jsontext.Value) error {
	setting, given := settings[settingWorldbook]
	if !given {
		return nil
	}
	delete(settings, settingWorldbook)
	row.Worldbook, row.WorldbookID = 0, ""
	if setting.Kind() == 'n' {
		return nil
	}
	var id string
	if err := json.Unmarshal(setting, &id); err != nil {
		return err
	}
	w, err := ownWorldbook(tx, row.Account, id)
	if err != nil {
		return err
	}
	row.Worldbook, row.WorldbookID = w.Row, w.ID
	return nil
}
