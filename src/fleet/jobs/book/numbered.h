// Things that are numbered in the order of their coming: each stays where it is until it is erased,
// and no number is used twice.
#pragma once

#include <cstddef>
#include <map>
#include <utility>

#include "base/check.h"

namespace attune::jobs {

template <typename T>
class Numbered {
  using Map = std::map<std::size_t, T>;

  // Over the things alone, in the order of their numbers.
  template <typename Place, typename Thing>
  struct Iterator {
    Place place;
    Thing& operator*() const { return place->second; }
    Iterator& operator++() {
      ++place;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;
  };

 public:
  std::size_t add(T thing) {
    things_.emplace_hint(things_.end(), next_, std::move(thing));
    return next_++;
  }
  void erase(std::size_t number) { things_.erase(number); }

  T& operator[](std::size_t number) { return found(things_.find(number))->second; }
  const T& operator[](std::size_t number) const { return found(things_.find(number))->second; }
  std::size_t size() const { return things_.size(); }
  bool empty() const { return things_.empty(); }
  const T& back() const { return things_.rbegin()->second; }

  auto begin() { return Iterator<typename Map::iterator, T>{things_.begin()}; }
  auto end() { return Iterator<typename Map::iterator, T>{things_.end()}; }
  auto begin() const { return Iterator<typename Map::const_iterator, const T>{things_.begin()}; }
  auto end() const { return Iterator<typename Map::const_iterator, const T>{things_.end()}; }

 private:
  template <typename Place>
  Place found(Place place) const {
    CHECK(place != things_.end(), "a number of something that is not there");
    return place;
  }

  Map things_;
  std::size_t next_ = 0;
};

}  // namespace attune::jobs
