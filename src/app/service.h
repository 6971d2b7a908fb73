// Service: the model and everything that answers requests with it, from the engine to the router,
// made and taken down in the right order. The composition of the server below its sockets.
//
// load() takes as long as reading the model does and may be called on any one thread; handle() by
// all HTTP threads at once; close(), drain() and stop() by one thread. load() fails with a message
// for the terminal.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/http_types.h"
#include "app/options.h"
#include "base/clock.h"
#include "base/result.h"

namespace samovar {
class Engine;
class LlamaEngine;
}  // namespace samovar

namespace samovar::app {

// What stands between scheduler and engine: tests put an engine here that steers replies. It
// borrows the engine it is given, and computes in it. Empty: nothing.
using WrapEngine = std::function<std::unique_ptr<Engine>(LlamaEngine&)>;

class Service {
 public:
  // Prints the memory table before it allocates, unless options.announce is off.
  static Result<std::unique_ptr<Service>> load(const ServeOptions& options,
                                               const WrapEngine& wrap = {});
  ~Service();

  [[nodiscard]] HttpResponse handle(const HttpRequest& request) const;
  [[nodiscard]] const std::string& model_id() const;

  void close();                 // new turns are refused from now on
  bool drain(Micros deadline);  // true if every turn has ended
  void stop();                  // ends what still runs

 private:
  struct Parts;
  explicit Service(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace samovar::app
