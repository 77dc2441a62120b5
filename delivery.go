package sessile

// OutboxStatus is the status of a [Delivery].
type OutboxStatus string

// A pending delivery waits to be posted or acknowledged; suspended and discarded ones keep their text and can be tried again.
const (
	OutboxPending   OutboxStatus = "pending"
	OutboxDelivered OutboxStatus = "delivered"
	OutboxSuspended OutboxStatus = "suspended"
	OutboxDiscarded OutboxStatus = "discarded"
)

// Delivery is a text on its way to a channel: a row of the outbox.
type Delivery struct {
	Row        int64
	Account    string
	SessionKey string
	Route      []byte // JSON object: channel, to, account_id, thread_id
	Text       string
	Status     OutboxStatus
	Attempts   int64  // posts
	Key        string // idempotency key, unique in the account
	RunID      string
	Error      string // of the last post
	CreatedAt  int64
	SettledAt  int64 // when it was delivered, suspended or discarded; 0 for not yet
	RetryFrom  int64 // when the series of posts began that DueAt goes on with
	DueAt      int64 // when it is posted next; 0 for never
	Sequence   int64 // grows over all deliveries with every change of one
}

// DeliveryFilter narrows the list of an account's deliveries; zero members do not narrow.
type DeliveryFilter struct {
	Account    string // required
	SessionKey string
	Status     OutboxStatus
	After      int64 // Sequence above this one
	Limit      int
}

// DeliveryReader reads the outbox.
type DeliveryReader interface {
	// Deliveries lists deliveries by Sequence, ascending.
	Deliveries(filter DeliveryFilter) ([]Delivery, error)
	Delivery(account string, row int64) (Delivery, bool, error)
	// DeliveryNamed finds a delivery by its idempotency key.
	DeliveryNamed(account, key string) (Delivery, bool, error)
	// DueDeliveries lists pending deliveries to be posted by now, the most overdue first, and NextDelivery is when the next
	// one is after a time; 0 for never.
	DueDeliveries(now int64, limit int) ([]Delivery, error)
	NextDelivery(after int64) (int64, error)
}

// DeliveryWriter writes the outbox.
type DeliveryWriter interface {
	// AddDelivery inserts a delivery and fills in its row, CreatedAt and Sequence, unless one with its key is there.
	AddDelivery(*Delivery) (added bool, err error)
	// UpdateDelivery writes Status, Attempts, Error and the times, and gives it a new Sequence.
	UpdateDelivery(*Delivery) error
}
